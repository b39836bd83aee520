"""The seam between the platform and whatever makes an agent think: a turn in, events out.

A runtime translates; it owns no timeout, no output cap and no kill (contract §6): the supervisor
does. Programs are started through `Turn.launch`, so that everything a turn starts is known.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Protocol

from msgspec import UNSET, Meta, Struct, field

from agentworks.rules import limits


class Limits(Struct, frozen=True, kw_only=True):
    """How long a turn may take and how much it may say. Seconds and bytes."""

    idle_seconds: float = limits.TURN_IDLE_SECONDS  # without a sign of life
    hard_seconds: float = limits.TURN_IDLE_SECONDS * limits.TURN_HARD_FACTOR  # in all
    grace_seconds: float = limits.STOP_GRACE_SECONDS  # between SIGTERM and SIGKILL
    linger_seconds: float = limits.LINGER_SECONDS  # between the last event and SIGTERM
    output_bytes: int = limits.OUTPUT_BYTES_MAX  # of an answer on stdout, and of stderr
    line_bytes: int = limits.LINE_BYTES_MAX  # of one line of a program's output


class ToolSpec(Struct, frozen=True, kw_only=True):
    """A tool the running agent may use, as its model is told of it."""

    name: str
    description: str
    input_schema: dict[str, Any]


class Exit(Struct, frozen=True, kw_only=True):
    """How a program ended: its exit code, or the signal that ended it; neither if unknown."""

    code: int | None = None
    signal: int | None = None
    leftovers: tuple[str, ...] = ()  # what it left running, since ended: "sleep (4711)"

    @property
    def well(self) -> bool:
        return self.code == 0


class NotStarted(Exception):
    """A program could not be started; the text says why, for a person."""


class LineTooLong(Exception):
    """A line of output passed `Limits.line_bytes`; the text says so."""


class Program(Protocol):
    """A started program, as a runtime sees it."""

    def lines(self) -> AsyncIterator[str]:
        """Its stdout line by line. Raises LineTooLong."""

    def chunks(self) -> AsyncIterator[str]:
        """Its stdout as it comes, characters whole."""

    def write(self, text: str) -> bool:
        """Put text on its stdin without waiting for it; False when stdin is closed."""

    def close_stdin(self) -> None:
        """End its stdin once everything written has been taken."""

    async def ended(self) -> Exit:
        """Wait until it and all it started are gone."""

    def said_last(self, length: int) -> str:
        """The last characters of its stderr."""


class Launch(Protocol):
    """Start one program of this turn, in its sandbox, environment and folder."""

    async def __call__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        read: Sequence[Path] = (),
    ) -> Program:
        """`env` is added to the turn's; `read` are paths it must see. Raises NotStarted."""


async def no_programs(
    argv: Sequence[str], *, env: Mapping[str, str] | None = None, read: Sequence[Path] = ()
) -> Program:
    """The launch of a turn that nobody supervises."""
    raise NotStarted(f"{argv[0]}: no program may be started here")


class Turn(Struct, frozen=True, kw_only=True):
    """Everything a runtime is given for one turn.

    `env` is the whole environment of its programs, the turn token and the runtime's own secrets
    among it. `session_ref` is the runtime's own name for the conversation, to resume by.
    """

    turn_id: str
    prompt: str
    cwd: Path
    system: str = ""
    conversation_id: str = ""
    call_id: str = ""
    session_ref: str = ""
    env: dict[str, str] = field(default_factory=dict)
    output: Path | None = None  # FUNCTION_OUTPUT_DIR
    result_file: Path | None = None  # FUNCTION_RESULT_FILE
    tools: tuple[ToolSpec, ...] = ()
    result_schema: dict[str, Any] | None = None
    limits: Limits = Limits()
    server_url: str = ""
    token: str = ""
    secrets: dict[str, str] = field(default_factory=dict)
    launch: Launch = no_programs


class Started(Struct, frozen=True, tag_field="type", tag="started"):
    """The runtime is at work; `session_ref` resumes this conversation in a later turn."""

    session_ref: str = ""


class Text(Struct, frozen=True, tag_field="type", tag="text"):
    """A piece of the answer as it is written. The pieces together are the partial answer."""

    text: str


class Progress(Struct, frozen=True, tag_field="type", tag="progress"):
    """One line about what the agent is doing, for the caller."""

    text: str


class ToolCall(Struct, frozen=True, tag_field="type", tag="tool_call"):
    tool: str
    input: Any = None
    use_id: str = ""


class ToolResult(Struct, frozen=True, tag_field="type", tag="tool_result"):
    tool: str
    output: Any = None
    use_id: str = ""
    ok: bool = True


class NeedInput(Struct, frozen=True, tag_field="type", tag="need_input"):
    """The agent asks a person. `request_id` is unique in the turn; see `Runtime.answer`."""

    request_id: str
    question: str
    kind: str = "human_feedback"
    schema: dict[str, Any] | None = None


Count = Annotated[int, Meta(ge=0, le=2**53)]
Money = Annotated[float, Meta(ge=0)]


class Usage(Struct, frozen=True, tag_field="type", tag="usage"):
    """What was used since the last such event."""

    input_tokens: Count = 0
    output_tokens: Count = 0
    cached_tokens: Count = 0
    cost_usd: Money = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cost_usd + other.cost_usd,
        )


class Final(Struct, frozen=True, tag_field="type", tag="final"):
    """The turn's answer: text, and a structured result where the runtime has one."""

    text: str = ""
    result: Any = UNSET


class Failed(Struct, frozen=True, tag_field="type", tag="failed"):
    """The turn ended without an answer; `partial` is what there is of one."""

    reason: str
    partial: str = ""


class TimedOut(Struct, frozen=True, tag_field="type", tag="timed_out"):
    """Told by the supervisor, never by a runtime: the caller's wait is over, the turn not yet."""

    reason: str


Event = (
    Started | Text | Progress | ToolCall | ToolResult | NeedInput | Usage | Final | Failed
)  # the last two are terminal: exactly one of them ends a turn
Told = Event | TimedOut


class Capabilities(Struct, frozen=True, kw_only=True):
    """What a runtime can do here and now. `why` is its version, or what is missing."""

    available: bool
    why: str
    in_process: bool = False  # starts no program, so it needs no sandbox
    streams: bool = False
    resumes: bool = False
    steers: bool = False
    asks: bool = False
    uses_tools: bool = False
    corrects: bool = True  # a correction turn may run the agent once more
    needs_network: bool = False
    needs_secrets: tuple[str, ...] = ()


class Runtime(Protocol):
    """One turn's runtime. A new one is opened for each turn (`runtimes.open_runtime`)."""

    name: str

    def probe(self) -> Capabilities:
        """Whether it can run here; quick, and never raises."""

    def run(self, turn: Turn) -> AsyncIterator[Event]:
        """Do the turn. Exactly one terminal event; may raise NotStarted or LineTooLong."""

    async def steer(self, text: str) -> bool:
        """Give text to the running turn; False when it must wait for the next turn."""

    async def answer(self, request_id: str, answer: Any) -> bool:
        """Answer a NeedInput; False when this runtime is not waiting for it."""

    async def stop(self, grace: float) -> None:
        """Ask it to end within `grace` seconds. What it started is ended by the supervisor."""
