"""Which files of an agent a caller may see or change, by its role (decision 0020)."""

from __future__ import annotations

from agentworks import targets
from agentworks.contracts.definitions import Role
from agentworks.contracts.operation import Caller
from agentworks.errands import Authored
from agentworks.rules import access, paths
from agentworks.rules import refusals_of_agents as refusals
from agentworks.rules.refusals import invalid_input
from agentworks.rules.runtimes import starts_programs, stored_runtime
from agentworks.store import Snapshot
from agentworks.tables import agent_files
from agentworks.targets import Target


def folder_of(target: Target, folder: str) -> str:
    """The folder to look into, "" for all; one who may see outputs alone gets those."""
    folder = folder.strip("/")
    problems = paths.path_problems(folder, "folder") if folder else []
    if problems:
        raise invalid_input(problems)
    if not folder and not access.at_least(target.role, "editor"):
        return paths.PRODUCED
    refuse_unless(target, access.needs_to_read(folder))
    return folder


def refuse_unless(target: Target, needs: Role) -> None:
    if not access.at_least(target.role, needs):
        raise refusals.role_too_low(target.agent.name, target.role, needs)


def to_change(db: Snapshot, caller: Caller, target: str, path: str) -> Target:
    """The agent whose file at `path` the caller may write or delete.

    While an agent starts programs, its files decide what they do: they are its owners' to change.
    """
    found = targets.find(db, caller, target, "editor")
    problems = paths.path_problems(path)
    if problems:
        raise invalid_input(problems)
    if starts_programs(stored_runtime(found.agent.runtime)):
        if not access.at_least(found.role, "owner"):
            raise refusals.needs_owner(
                [f"only an owner may change files of {found.agent.name}: it starts programs"]
            )
    return found


def authored(db: Snapshot, agent_id: str) -> list[Authored]:
    """What its authors gave an agent, without the contents."""
    return [
        Authored(each.path, each.size, each.sha256) for each in agent_files.of_agent(db, agent_id)
    ]


def authored_whole(db: Snapshot, agent_id: str) -> list[Authored]:
    contents = {each.path: each.content for each in agent_files.whole(db, agent_id)}
    return [
        Authored(each.path, each.size, each.sha256, contents[each.path])
        for each in agent_files.of_agent(db, agent_id)
    ]
