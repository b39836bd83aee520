"""Whether a result is what its function promises ([S0] "Structured functions")."""

from __future__ import annotations

import json
from functools import lru_cache
from itertools import islice
from typing import Any

from agentworks.rules import strict_json
from agentworks.rules.limits import RESULT_PROBLEMS_MAX
from agentworks.rules.schema_checks import Check, Meter, TooMuchWork
from agentworks.rules.schema_compiler import compiled
from agentworks.rules.strict_json import NotStrictJson


def result_problems(
    schema: dict[str, Any], raw: bytes, at: str = "result"
) -> tuple[Any, list[str]]:
    """The value `raw` spells and all that is wrong with it, as `path: what`; at most 50 problems.

    `schema` was vetted when it was saved; the caller has bounded `raw` (16 MiB) before reading
    it. The value is None when `raw` is no strict JSON. Pure and picklable.
    """
    try:
        value = strict_json.parse(raw, at=at)
    except NotStrictJson as not_json:
        return None, not_json.problems
    return value, value_problems(schema, value, at)


def value_problems(schema: dict[str, Any], value: Any, at: str = "result") -> list[str]:
    """All that is wrong with a value that strict_json has read; its work is bounded."""
    check = _check(json.dumps(schema))
    try:
        if check.fits(value, Meter()):
            return []
        found = list(islice(check.tell(value, at, Meter()), RESULT_PROBLEMS_MAX + 1))
    except TooMuchWork:
        return [f"{at}: takes too much work to be checked against its schema"]
    except RecursionError:
        return [f"{at}: nests too deeply to be checked against its schema"]
    problems = [f"{where}: {what}" for where, what in found[:RESULT_PROBLEMS_MAX]]
    return [*problems, "and more of the kind"] if len(found) > RESULT_PROBLEMS_MAX else problems


@lru_cache(maxsize=256)
def _check(schema: str) -> Check:
    """By the schema's text, so that it is compiled once; problems come in its order."""
    return compiled(json.loads(schema))
