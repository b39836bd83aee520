"""turns.report_progress: one line for whoever waits for this turn's call."""

from __future__ import annotations

from agentworks.contracts.operation import Caller
from agentworks.contracts.turns import Reported, ReportProgress
from agentworks.rules import limits
from agentworks.rules import refusals_of_turns as refusals
from agentworks.store import Transaction
from agentworks.tables import calls, executions


def report_progress(tx: Transaction, caller: Caller, request: ReportProgress) -> Reported:
    call = executions.called(tx, caller.call_id)
    if call is None or call.state not in ("working", "timed_out"):
        raise refusals.no_call_waits()
    number = executions.note(tx, call.call_id, 1, None)
    assert number is not None, "the call was found in this very transaction"
    executions.add_line(tx, call.call_id, number, request.line)
    executions.drop_lines(tx, call.call_id, number - limits.PROGRESS_LINES_KEPT_MAX)
    tx.ring(calls.bell(call.call_id))
    return Reported(call_id=call.call_id, number=number)
