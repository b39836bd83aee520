"""When two JSON values are the same, and a short name for each: what retries are compared by."""

from __future__ import annotations

import hashlib
import json
from typing import Any

_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def canonical(value: Any) -> str:
    """The one spelling of a JSON value: keys sorted, integers in full, 1.0 written as 1.

    In the manner of RFC 8785, but integers of any size stay exact.
    """
    return _ENCODER.encode(plain(value))


def fingerprint(*values: Any) -> str:
    """A SHA-256, in hex, that equal JSON values share: fingerprint(target_id, function, args)."""
    return hashlib.sha256(canonical(list(values)).encode()).hexdigest()


def same(one: Any, other: Any) -> bool:
    """JSON equality: 1 is 1.0, true is not 1, the order of keys does not count."""
    if isinstance(one, str) or isinstance(other, str):
        return bool(one == other)
    return canonical(one) == canonical(other)


def among(value: Any, choices: list[Any]) -> bool:
    """True when one of `choices` is the same JSON value."""
    if isinstance(value, str):
        return value in choices
    wanted = canonical(value)
    return any(canonical(each) == wanted for each in choices)


def plain(value: Any) -> Any:
    """The value with whole doubles as integers, which JSON does not tell from them."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value
