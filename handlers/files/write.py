"""files.write: give an agent a file, or replace one; it is in its folder from its next turn."""

from __future__ import annotations

from agentworks.contracts.files import FileWritten, WriteFile
from agentworks.contracts.operation import Caller
from agentworks.dispatch import Deferred
from agentworks.errands import WriteAgentFile
from agentworks.rules import limits, paths, uploads
from agentworks.rules.refusals import invalid_input
from agentworks.rules.runtimes import file_problems, stored_runtime
from agentworks.store import Transaction
from agentworks.tables import agent_files, agents
from agentworks.tables.agents import Agent
from handlers.files import reach


def write(tx: Transaction, caller: Caller, request: WriteFile) -> FileWritten | Deferred:
    agent = reach.to_change(tx, caller, request.target, request.path).agent
    raw = content_of(request)
    if paths.is_own(request.path):  # what it remembers is no part of its definition
        return Deferred(WriteAgentFile(agent.agent_id, request.path, raw))
    there = {each.path: each.size for each in agent_files.of_agent(tx, agent.agent_id)}
    refuse_unfit(agent, there, request.path, raw)
    agent_files.put(tx, agent.agent_id, request.path, raw, uploads.of(raw).sha256)
    agents.touch(tx, agent.agent_id)
    return FileWritten(
        agent_id=agent.agent_id,
        path=request.path,
        size=len(raw),
        created=request.path not in there,
    )


def content_of(request: WriteFile) -> bytes:
    try:
        raw = uploads.decoded(request.content, request.encoding)
    except uploads.NotReadable as why:
        raise invalid_input([f"content {why}"]) from None
    most = limits.AGENT_FILES_BYTES_MAX
    if len(raw) > most:
        raise invalid_input([f"content has {len(raw):,} bytes; at most {most:,} are allowed"])
    return raw


def refuse_unfit(agent: Agent, there: dict[str, int], path: str, raw: bytes) -> None:
    after = there | {path: len(raw)}
    problems = paths.authored_problems(path)
    problems += paths.clashes(after)
    problems += uploads.size_problems(len(after), sum(after.values()))
    runtime = stored_runtime(agent.runtime)
    if runtime is not None and runtime.get("file") == path:
        problems += file_problems(runtime, {path: raw})
    if problems:
        raise invalid_input(problems)
