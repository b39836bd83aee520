"""How values of others are shown inside our sentences: short, and with nothing invisible."""

from __future__ import annotations

import json
from typing import Any

_SHOWN_MAX = 60  # characters of somebody's value inside a sentence
_ENCODER = json.JSONEncoder(ensure_ascii=True)


def shown(value: Any) -> str:
    """`value` as JSON on one line, cut to a readable length; never fails, and stops at the cut."""
    text = ""
    try:
        for piece in _ENCODER.iterencode(value):
            text += piece
            if len(text) > _SHOWN_MAX:
                break
    except (TypeError, ValueError, RecursionError):
        return type(value).__name__
    return text if len(text) <= _SHOWN_MAX else text[: _SHOWN_MAX - 1] + "…"
