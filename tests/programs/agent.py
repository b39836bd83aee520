"""A `python` agent whose prompt says what to do."""

from __future__ import annotations

import os
from typing import Any


async def reply(turn: Any) -> Any:
    print("a print is no event")
    word, _, rest = turn.prompt.partition(" ")
    if word == "echo":
        await turn.progress("echoing")
        await turn.usage(input_tokens=3, cost_usd=0.5)
        return rest
    if word == "ask":
        return {"answer": await turn.ask(rest, {"type": "boolean"})}
    if word == "steer":
        async for text in turn.steers():
            return f"heard {text}"
    if word == "call":
        return await turn.call("agents.echo", {"agent_id": "a b", "deep": [1], "text": rest})
    if word == "describe":
        return [turn.call_id, turn.variables, str(turn.output), sorted(os.environ)]
    return odd(word)


def odd(word: str) -> str:
    if word == "exit":
        raise SystemExit(3)
    if word == "surrogate":
        return "half \ud800 pair"
    raise RuntimeError("no such word")
