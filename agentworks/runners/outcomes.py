"""What a turn came to: everything its events said, put together into one outcome."""

from __future__ import annotations

import re
from typing import Any, Literal

from msgspec import UNSET, Struct, structs

from agentworks.rules import limits
from agentworks.runners.files import ProducedFile
from agentworks.runners.runtime import (
    Event,
    Failed,
    Final,
    NeedInput,
    Progress,
    Started,
    Text,
    Usage,
)

State = Literal["answered", "completed", "failed", "timed_out", "late", "interrupted"]
_UNFIT = re.compile("[\0\ud800-\udfff]")  # what no text may hold (contract §3 "Text rules")
_SESSION_LENGTH_MAX = 1_000  # characters of a runtime's own name for a conversation


class Outcome(Struct, frozen=True, kw_only=True):
    """How a turn ended. `late`: it answered after TimedOut was told; `timed_out`: it never did.

    `text` is the final answer; `partial` what there is of one otherwise. `completed` and the
    files are the result contract's to say (`results.fulfil`); `interrupted` is recovery's.
    """

    state: State
    text: str = ""
    text_file: str = ""  # where the whole answer is, when `text` is only its beginning
    result: Any = UNSET
    result_file: str = ""  # instead of `result`, when that is too large to be inline
    partial: str = ""
    reason: str = ""
    usage: Usage = Usage()
    session_ref: str = ""
    files: list[ProducedFile] = []
    more_files: bool = False
    leftovers: list[str] = []  # programs it left running, since ended
    log: str = ""  # the end of its stderr


class Record:
    """The events of one turn, as far as its outcome needs them."""

    def __init__(self, session_ref: str) -> None:
        self.terminal: Final | Failed | None = None
        self.partial = ""
        self.usage = Usage()
        self.session_ref = session_ref
        self._cut = 0  # characters of partial text that were not kept

    def note(self, event: Event) -> None:
        if isinstance(event, Text):
            kept = event.text[: max(limits.PARTIAL_LENGTH_MAX - len(self.partial), 0)]
            self.partial += kept
            self._cut += len(event.text) - len(kept)
        elif isinstance(event, Usage):
            self.usage += event
        elif isinstance(event, Started):
            self.session_ref = event.session_ref or self.session_ref
        elif isinstance(event, Final | Failed):
            self.terminal = event

    def outcome(self, *, timed_out: str, stopped: str, leftovers: list[str], log: str) -> Outcome:
        """The one outcome. `timed_out` and `stopped` are why, empty if it was not."""
        said = Outcome(
            state="failed",
            usage=self.usage,
            session_ref=self.session_ref,
            leftovers=leftovers,
            log=log,
        )
        if isinstance(self.terminal, Final):
            state: State = "late" if timed_out else "answered"
            return structs.replace(
                said, state=state, text=self.terminal.text, result=self.terminal.result
            )
        told = self.terminal or Failed(reason="it ended without an answer")
        partial = shortened(told.partial, limits.PARTIAL_LENGTH_MAX) or self.partial
        if self._cut and partial == self.partial:
            partial += f"\n… ({self._cut:,} more characters)"
        return structs.replace(
            said,
            state="timed_out" if timed_out else "failed",
            reason=timed_out or stopped or told.reason,
            partial=partial,
        )


def tidy(event: Event) -> Event:
    """An event as it may be stored: its texts fit to store, and none longer than its limit."""
    if isinstance(event, Text):
        return Text(fit(event.text))
    if isinstance(event, Progress):
        return Progress(shortened(fit(event.text), limits.PROGRESS_LENGTH_MAX))
    if isinstance(event, Started):
        return Started(fit(event.session_ref)[:_SESSION_LENGTH_MAX])
    if isinstance(event, NeedInput):
        question = shortened(fit(event.question), limits.QUESTION_LENGTH_MAX)
        return structs.replace(
            event, question=question, request_id=fit(event.request_id), kind=fit(event.kind)
        )
    if isinstance(event, Final):
        return structs.replace(event, text=fit(event.text))
    if isinstance(event, Failed):
        reason = shortened(fit(event.reason), limits.PROGRESS_LENGTH_MAX * 2)
        return Failed(reason=reason, partial=fit(event.partial))
    return event


def fit(text: str) -> str:
    """The text with U+FFFD in place of what no text may hold."""
    return _UNFIT.sub("\ufffd", text)


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
