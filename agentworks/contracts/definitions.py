"""What crew.toml says, as data: an agent, its functions and triggers, and the files beside it."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field

from agentworks.contracts.refusal import Input

Role = Literal["reader", "runner", "editor", "owner"]


class FunctionDefinition(
    Struct, forbid_unknown_fields=True, kw_only=True, frozen=True, omit_defaults=True
):
    """One [[functions]] table of crew.toml.

    `inputs` and `result_schema` may also be the JSON text of what they are: TOML has no null.
    """

    name: str
    description: str = ""
    inputs: list[Input] = field(default_factory=list)
    result_schema: Any = None
    allowed_callers: list[str] = field(default_factory=list)  # kind:id; empty: all with run access
    instructions: str = ""  # never shown to callers


class TriggerDefinition(Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """One [[triggers]] table: what a native crew step or a schedule binds to."""

    id: str
    conversation: Literal["own", "fresh"] = "own"


class CrewDefinition(
    Struct, forbid_unknown_fields=True, kw_only=True, frozen=True, omit_defaults=True
):
    """crew.toml, whole. `runtime` is {name = "...", …its settings}, or the JSON text of that."""

    name: str
    about: str = ""
    kind: Literal["crew", "code"] = "crew"
    instructions: str = ""
    messaging: bool = True
    idle_minutes: int = 60
    runtime: dict[str, Any] | None = None
    members: dict[str, Role] = field(default_factory=dict)  # account name → role
    functions: list[FunctionDefinition] = field(default_factory=list)
    triggers: list[TriggerDefinition] = field(default_factory=list)


class UploadedFile(
    Struct, forbid_unknown_fields=True, kw_only=True, frozen=True, omit_defaults=True
):
    """A file beside crew.toml, which is placed in the agent's folder."""

    path: str  # below that folder, with /
    content: str
    encoding: Literal["utf-8", "base64"] = "utf-8"
