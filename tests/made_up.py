"""Calls that a machine makes up: an operation, with arguments right, nearly right or not at all."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as some

from agentworks import decoding
from agentworks.contracts import PROTOCOL
from agentworks.contracts.operation import Operation
from agentworks.contracts.refusal import RefusalCode, Refuse

json_values = some.recursive(
    some.none()
    | some.booleans()
    | some.integers(-(10**20), 10**20)
    | some.floats(allow_nan=False, allow_infinity=False)
    | some.text(max_size=8)
    | some.sampled_from(
        ["read", "worker", "agent:worker", "5", "true", "[]", '["run"]', "x" * 200]
    ),
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(some.text(max_size=4), inner),
    max_leaves=6,
)
text_values = some.text(max_size=30)


def calls(values: some.SearchStrategy[Any]) -> some.SearchStrategy[tuple[Any, dict[str, Any]]]:
    """An operation, and arguments whose names are right, nearly right, or anything."""

    def arguments(declared: Operation[Any, Any]) -> some.SearchStrategy[Any]:
        known = [each.encode_name for each in msgspec.structs.fields(declared.request)] or ["x"]
        nearly = [name[1:] + name[:1] for name in known] + [name.upper() for name in known]
        names = some.sampled_from(known * 3 + nearly) | some.text(max_size=8)
        return some.tuples(some.just(declared), some.dictionaries(names, values, max_size=6))

    return some.sampled_from(PROTOCOL).flatmap(arguments)


def judged(declared: Operation[Any, Any], args: dict[str, Any]) -> None:
    """Whatever is sent is taken or refused, and the corrected call is taken."""
    try:
        request = decoding.decode(declared, args)
    except Refuse as raised:
        answer = raised.refused
        assert answer.code is RefusalCode.INVALID_INPUT and answer.problems
        assert all(len(problem) < 300 for problem in answer.problems)
        sent = msgspec.json.decode(msgspec.json.encode(answer))
        if answer.try_ is not None:
            assert isinstance(decoding.decode(declared, sent["try"]), declared.request)
            assert set(answer.placeholders) <= set(answer.try_)
    else:
        assert isinstance(request, declared.request)
        assert decoding.decode(declared, msgspec.to_builtins(request)) == request
