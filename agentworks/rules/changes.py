"""What differs between two definitions of an agent, place by place: the diff that apply shows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct

from agentworks.contracts.crews import Change
from agentworks.contracts.definitions import CrewDefinition
from agentworks.rules.fingerprints import same
from agentworks.rules.strict_json import child

CHANGES_MAX = 1_000  # differences told at once
_KEYS = {"functions": "name", "inputs": "name", "triggers": "id"}  # lists whose items have names


class Content(Struct, frozen=True):
    """A file's bytes as they differ: how many, and their SHA-256."""

    size: int
    sha256: bytes

    def __str__(self) -> str:
        return f"{self.size:,} bytes ({self.sha256.hex()[:8]})"


def changes(was: CrewDefinition | None, becomes: CrewDefinition) -> list[Change]:
    """Every difference, in the order of the definition. None is an agent that is not there yet."""
    before = {} if was is None else _whole(was)
    after = msgspec.to_builtins(becomes) if was is None else _whole(becomes)
    return list(islice(_differences(before, after, ""), CHANGES_MAX))


def file_changes(was: Mapping[str, Content], becomes: Mapping[str, Content]) -> list[Change]:
    """By path."""
    return [
        Change(
            what=f"files/{path}",
            was=str(was[path]) if path in was else None,
            becomes=str(becomes[path]) if path in becomes else None,
        )
        for path in sorted({*was, *becomes})
        if was.get(path) != becomes.get(path)
    ]


def _whole(definition: CrewDefinition) -> dict[str, Any]:
    """With the fields that have their default: a switch is turned back, not left out."""
    return {
        name: msgspec.to_builtins(getattr(definition, name))
        for name in definition.__struct_fields__
    }


def _differences(was: Any, becomes: Any, at: str) -> Iterator[Change]:
    if isinstance(was, dict) and isinstance(becomes, dict):
        for name in dict.fromkeys([*was, *becomes]):
            before, after = was.get(name), becomes.get(name)
            if name in _KEYS:
                yield from _by_name(before or [], after or [], child(at, name), _KEYS[name])
            else:
                yield from _differences(before, after, child(at, name))
    elif not same(was, becomes):
        yield Change(what=at, was=_told(was), becomes=_told(becomes))


def _by_name(was: list[Any], becomes: list[Any], at: str, key: str) -> Iterator[Change]:
    before, after = ({each[key]: each for each in listed} for listed in (was, becomes))
    for name in dict.fromkeys([*before, *after]):
        yield from _differences(before.get(name), after.get(name), child(at, name))
    kept = [name for name in before if name in after]
    order = [name for name in after if name in before]
    if kept != order:
        yield Change(what=f"{at}, their order", was=", ".join(kept), becomes=", ".join(order))


def _told(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
