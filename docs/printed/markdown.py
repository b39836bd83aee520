"""Markdown as all printed passages write it: tables, code blocks, and text that stays text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; columns in which no row says anything are left out."""
    lines = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    kept = [place for place in range(len(heads)) if any(line[place] for line in lines)]
    out = [[heads[place] for place in kept], ["---" for _ in kept]]
    out += [[line[place] for place in kept] for line in lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in out)


def block(text: str, kind: str = "text") -> str:
    """A fenced block; the fence is longer than any in the text."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{kind}\n{text}\n{fence}"


def json_block(value: Any) -> str:
    return block(json.dumps(value, indent=2, ensure_ascii=False), "json")


def code(text: str) -> str:
    """Text in a monospaced font."""
    return f"`{text}`"


def codes(texts: Iterable[str]) -> str:
    return ", ".join(map(code, texts))


def plain(text: str) -> str:
    """Words that stay as they are: `<name>` would be an HTML tag, unless it stands in code."""
    parts = re.split("(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else part.replace("<", "\\<") for part in parts)


def paragraphs(*parts: str) -> str:
    """Parts with an empty line between them; empty parts are left out."""
    return "\n\n".join(part for part in parts if part)
