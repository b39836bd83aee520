"""The runtimes by name, one file each, loaded when first asked for.

`command`, `python` and `scripted` need no network and no provider. The name is the file's; what
is missing here is not offered.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import msgspec
from msgspec import NODEFAULT, Struct

from agentworks.runners.runtime import Capabilities, Runtime

NAMES = ("command", "python", "scripted", "claude", "codex", "openai", "anthropic", "a2a")
Settings = TypeVar("Settings", bound=Struct)


class RuntimeFile(Protocol):
    """What a file in this folder offers."""

    def open_runtime(self, settings: Mapping[str, Any], folder: Path) -> Runtime:
        """A runtime for one turn of an agent in `folder`. Raises WrongSettings."""


class WrongSettings(Exception):
    """An agent's runtime settings cannot be used. `problems` lists everything wrong."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(*problems)
        self.problems = problems


@cache
def known() -> tuple[str, ...]:
    """The names this server has a runtime for."""
    return tuple(name for name in NAMES if importlib.util.find_spec(f"{__name__}.{name}"))


def open_runtime(name: str, settings: Mapping[str, Any], folder: Path) -> Runtime:
    """A runtime for one turn. Raises WrongSettings, also for an unknown name."""
    if name not in known():
        raise WrongSettings([f"runtime must be one of: {', '.join(known())} (got {name[:100]!r})"])
    loaded = cast(RuntimeFile, importlib.import_module(f"{__name__}.{name}"))
    return loaded.open_runtime(settings, folder)


def problems(name: str, settings: Mapping[str, Any], folder: Path) -> list[str]:
    """Everything wrong with an agent's runtime as configured; empty when it can be saved."""
    try:
        open_runtime(name, settings, folder)
    except WrongSettings as why:
        return why.problems
    return []


def probe(name: str, settings: Mapping[str, Any], folder: Path) -> Capabilities:
    """Whether it can run here and why not; for `agentworks doctor` and for refusals."""
    try:
        return open_runtime(name, settings, folder).probe()
    except WrongSettings as why:
        return Capabilities(available=False, why="; ".join(why.problems))


def settings_of(kind: type[Settings], given: Mapping[str, Any]) -> Settings:
    """The settings as a struct. Raises WrongSettings with every problem, not only the first."""
    try:
        return msgspec.convert(dict(given), kind)
    except msgspec.ValidationError:
        pass
    declared = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    found = [f"{name} is not a setting of this runtime" for name in given if name not in declared]
    for name, field in declared.items():
        if name in given:
            try:
                msgspec.convert(given[name], field.type)
            except msgspec.ValidationError as why:
                found.append(f"{name}: {why}")
        elif field.default is NODEFAULT and field.default_factory is NODEFAULT:
            found.append(f"{name} is required")
    raise WrongSettings(found)
