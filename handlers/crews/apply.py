"""crews.apply: save an agent as its file says, whole or not at all, or only say what would change.

Everything that can be judged without the rows has been, by `prepared`, before the transaction.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import UNSET, Struct

from agentworks import targets
from agentworks.contracts.crews import Applied, ApplyCrew
from agentworks.contracts.definitions import CrewDefinition, Role
from agentworks.contracts.operation import Caller
from agentworks.rules import crews, limits, uploads
from agentworks.rules import refusals_of_agents as refusals
from agentworks.rules.access import at_least
from agentworks.rules.changes import Content, changes, file_changes
from agentworks.rules.crews import Checked
from agentworks.rules.function_definitions import as_object
from agentworks.rules.names import name_key
from agentworks.rules.refusals import invalid_input
from agentworks.rules.runtimes import file_problems, starts_programs
from agentworks.rules.uploads import Uploaded
from agentworks.store import Snapshot, Transaction
from agentworks.tables import accounts, agents
from agentworks.tables.agents import Agent
from handlers.crews import saving, stored


class Prepared(Struct, frozen=True):
    """What stands in a request's `definition` after `prepared`. No files: they stay as they are."""

    checked: Checked
    files: Uploaded | None

    @property
    def problems(self) -> list[str]:
        return self.checked.problems + (self.files.problems if self.files else [])


class Standing(Struct, frozen=True):
    """What there is before: an agent of the caller's, or nothing yet."""

    agent: Agent | None
    role: Role
    definition: CrewDefinition | None
    files: dict[str, Content]

    @property
    def agent_id(self) -> str:
        """Of what is there; "" for nothing yet."""
        return self.agent.agent_id if self.agent else ""


def prepared(request: ApplyCrew) -> ApplyCrew:
    """The same request, its definition and files checked and its contents decoded."""
    files = None if request.files is UNSET else uploads.read(request.files)
    found = Prepared(crews.check(as_object(request.definition)), files)
    return msgspec.structs.replace(request, definition=found, files=UNSET)


def apply(tx: Transaction, caller: Caller, request: ApplyCrew) -> Applied:
    given: Prepared = request.definition
    standing = standing_of(tx, caller, request, given)
    known = saving.Known.of(tx, caller, given.checked.given, standing.definition)
    problems = [*given.problems, *known.problems]
    definition = given.checked.definition
    if problems or definition is None:
        raise invalid_input(crews.told(problems))
    wanted = known.resolved(definition)
    contents = {} if given.files is None else given.files.contents
    files = standing.files if given.files is None else given.files.files
    if given.files is None:
        refuse_unfit(
            tx, standing, wanted, saving.contents_for(tx, standing.agent_id, wanted.runtime)
        )
    else:
        refuse_unfit(tx, standing, wanted, {**contents})
    refuse_forbidden(standing, wanted, files)
    found = [*changes(standing.definition, wanted), *file_changes(standing.files, files)]
    agent_id = standing.agent_id
    if found and not request.dry_run:
        agent_id = agent_id or begun(tx, caller, wanted)
        saving.save(tx, agent_id, wanted, known.accounts)
        saving.save_files(tx, agent_id, standing.files, files, contents)
    return Applied(
        agent_id=agent_id,
        name=wanted.name,
        created=standing.agent is None,
        saved=bool(found) and not request.dry_run,
        changes=found,
    )


def standing_of(db: Snapshot, caller: Caller, request: ApplyCrew, given: Prepared) -> Standing:
    """The agent the definition is for: the one named by `target`, else the caller's own."""
    if request.target is not UNSET:
        target = targets.find(db, caller, request.target, "editor")
        agent, role = target.agent, target.role
    else:
        name = given.checked.given.get("name")
        key = name_key(name) if isinstance(name, str) else ""
        own = agents.of_owner(db, caller.account_id, key)
        if own is None:
            refuse_another(db, caller)
            return Standing(None, "owner", None, {})
        if targets.seen(db, caller, own) is None:
            raise refusals.not_within_bounds()
        agent, role = own, "owner"
    definition = stored.definition_of(db, agent)
    return Standing(agent, role, definition, stored.files_of(db, agent.agent_id))


def refuse_another(db: Snapshot, caller: Caller) -> None:
    if caller.bounds is not None:
        raise refusals.not_within_bounds()
    if agents.count_of_account(db, caller.account_id) >= limits.AGENTS_PER_ACCOUNT_MAX:
        raise refusals.too_many_agents(limits.AGENTS_PER_ACCOUNT_MAX)


def refuse_unfit(
    db: Snapshot,
    standing: Standing,
    wanted: CrewDefinition,
    files: dict[str, bytes | None],
) -> None:
    """What is right by itself, and wrong beside what there is."""
    problems = file_problems(wanted.runtime, files)
    agent = standing.agent
    if agent is not None:
        if agent.kind != wanted.kind:
            problems.append(f"kind cannot change: {agent.name} is a {agent.kind}")
        namesake = agents.of_owner(db, agent.account_id, name_key(wanted.name))
        if namesake is not None and namesake.agent_id != agent.agent_id:
            problems.append(f"name {wanted.name} is taken by another agent of the same owner")
        owner = accounts.by_id(db, agent.account_id)
        if owner is not None and owner.name in wanted.members:
            problems.append(f"members.{owner.name} owns this agent and needs no role on it")
    if problems:
        raise invalid_input(problems)


def refuse_forbidden(standing: Standing, wanted: CrewDefinition, files: dict[str, Content]) -> None:
    """What only an owner may change, for editors (contract §2)."""
    was = standing.definition
    if was is None or at_least(standing.role, "owner"):
        return
    problems = list(owners_alone(was, wanted, standing.files != files))
    if problems:
        raise refusals.needs_owner(problems)


def owners_alone(was: CrewDefinition, wanted: CrewDefinition, files: bool) -> Iterator[str]:
    if was.members != wanted.members:
        yield "members: only an owner may change them"
    if was.messaging != wanted.messaging:
        yield "messaging: only an owner may switch it"
    if starts_programs(wanted.runtime):
        if was.runtime != wanted.runtime:
            yield f"runtime: only an owner may say what programs {wanted.name} starts"
        if files:
            yield f"files: only an owner may change them while {wanted.name} starts programs"


def begun(tx: Transaction, caller: Caller, wanted: CrewDefinition) -> str:
    agent_id = tx.new_id("code") if wanted.kind == "code" else tx.new_uuid()
    key = name_key(wanted.name)
    agents.add(tx, agent_id, wanted.kind, caller.account_id, wanted.name, key)
    return agent_id
