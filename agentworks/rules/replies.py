"""Answers to questions: whether one fits what was asked, and one that would."""

from __future__ import annotations

from typing import Any

import msgspec

from agentworks.rules import results, strict_json
from agentworks.rules.conversion import got
from agentworks.rules.limits import REPLY_BYTES_MAX
from agentworks.rules.strict_json import NotStrictJson

_SAMPLE_DEPTH_MAX = 4  # objects within objects that a sample is made for
_SAMPLES: dict[str, Any] = {
    "string": "text",
    "integer": 1,
    "number": 1,
    "boolean": False,
    "array": [],
    "null": None,
}


def judge(schema: dict[str, Any] | None, answer: Any) -> tuple[Any, list[str]]:
    """The answer as it is kept, and everything wrong with it.

    Without a schema it is text. With one, text that does not fit as text is read as the JSON it
    spells, if that fits: people type, and many programs send all as text (contract §5).
    """
    if len(msgspec.json.encode(answer)) > REPLY_BYTES_MAX:
        return answer, [f"answer has more than {REPLY_BYTES_MAX:,} bytes as JSON"]
    if schema is None:
        if isinstance(answer, str):
            return answer, [] if answer.strip() else ["answer must not be empty"]
        return answer, [f"answer must be text (got {got(answer)})"]
    problems = results.value_problems(schema, answer, "answer")
    if problems and isinstance(answer, str):
        try:
            spelled = strict_json.parse(answer, at="answer")
        except NotStrictJson:
            return answer, problems
        further = results.value_problems(schema, spelled, "answer")
        if not further:
            return spelled, []
        if isinstance(spelled, dict | list):
            return answer, further  # it was meant as JSON: these are the problems to put right
    return answer, problems


def sample(schema: dict[str, Any] | None) -> Any:
    """An answer that would be taken, or None when none comes to mind."""
    if schema is None:
        return "text"
    made = _sample(schema, _SAMPLE_DEPTH_MAX)
    return None if results.value_problems(schema, made, "answer") else made


def _sample(schema: Any, depth: int) -> Any:
    if not isinstance(schema, dict) or depth == 0:
        return None
    for authored in ("examples", "enum"):
        if schema.get(authored):
            return schema[authored][0]
    for authored in ("const", "default", "minimum"):
        if authored in schema:
            return schema[authored]
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next(iter(kind), None)
    if kind == "object":
        properties = schema.get("properties", {})
        return {
            name: _sample(properties.get(name), depth - 1) for name in schema.get("required", [])
        }
    return _SAMPLES.get(kind or "")
