"""crews.export: the definition and files of an agent, as they can be applied again."""

from __future__ import annotations

from agentworks import targets
from agentworks.contracts.crews import ExportCrew, Exported
from agentworks.contracts.operation import Caller
from agentworks.rules import uploads
from agentworks.store import Snapshot
from agentworks.tables import agent_files
from handlers.crews import stored


def export(db: Snapshot, caller: Caller, request: ExportCrew) -> Exported:
    agent = targets.find(db, caller, request.target, "editor", request).agent
    files = agent_files.whole(db, agent.agent_id)
    return Exported(
        agent_id=agent.agent_id,
        definition=stored.definition_of(db, agent),
        files=[uploads.encoded(each.path, each.content) for each in files],
    )
