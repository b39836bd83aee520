"""files.read: a page of one file of an agent."""

from __future__ import annotations

from agentworks import targets
from agentworks.contracts import files
from agentworks.contracts.operation import Caller
from agentworks.dispatch import Deferred
from agentworks.errands import Authored, ReadAgentFile
from agentworks.rules import access, paths
from agentworks.rules.refusals import invalid_input
from agentworks.store import Snapshot
from agentworks.tables import agent_files
from handlers.files import reach


def read(db: Snapshot, caller: Caller, request: files.ReadAgentFile) -> Deferred:
    target = targets.find(db, caller, request.target, "reader", request)
    problems = paths.path_problems(request.path)
    if problems:
        raise invalid_input(problems)
    reach.refuse_unless(target, access.needs_to_read(request.path))
    agent_id = target.agent.agent_id
    given = agent_files.find(db, agent_id, request.path)
    authored = None
    if given is not None:
        authored = Authored(request.path, len(given.content), given.sha256, given.content)
    return Deferred(ReadAgentFile(agent_id, request.path, request.offset, request.limit, authored))
