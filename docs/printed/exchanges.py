"""Real exchanges for the reference pages, taken from fixtures/golden."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct, inspect

from agentworks.contracts.operation import Operation
from cli.corrected import command_line
from cli.render import refusal_lines
from docs.printed.markdown import block, json_block, paragraphs
from docs.printed.types import fields

GOLDEN = Path(__file__).parents[2] / "fixtures" / "golden"


class Exchange(Struct, frozen=True):
    """One call and its answer, and the sentence that its test is named after."""

    sentence: str
    by_person: bool  # in a browser; everybody else comes with a token
    args: dict[str, Any]
    answer: dict[str, Any]


def printed(operation: Operation[Any, Any]) -> str:
    """An exchange that was answered, and one that was refused with a corrected call."""
    known = exchanges(operation)
    answered = best(known, "answered", emptiness)
    refused = best(known, "refused", hopelessness)
    parts = []
    if answered:
        parts += [told(answered), asked(operation, answered.args), json_block(answered.answer)]
    if refused:
        parts += [told(refused), asked(operation, refused.args), json_block(refused.answer)]
        parts.append(on_a_terminal(operation, refused.answer))
    return paragraphs("## For example", *parts) if parts else ""


def exchanges(operation: Operation[Any, Any]) -> list[Exchange]:
    """Every golden exchange of this operation, by name."""
    return [
        each
        for name, each in goldens()
        if name == operation.name and written_out(operation, each.args)
    ]


@cache
def goldens() -> list[tuple[str, Exchange]]:
    """Every exchange there is, with the name of its operation; read once per run."""
    return [
        (call["operation"], Exchange(sentence_of(path), by_person(call), call["with"], answer))
        for path in sorted(GOLDEN.rglob("*.json"))
        for call, answer in pairs(json.loads(path.read_text("utf-8")))
    ]


def pairs(found: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    match found:
        case list():
            for each in found:
                yield from pairs(each)
        case {"call": {"operation": str(), "with": dict()} as call, "answer": dict(answer)}:
            yield call, answer


def written_out(operation: Operation[Any, Any], args: dict[str, Any]) -> bool:
    """False where a golden says in words what a long list held."""
    lists = {
        each.name for each in fields(operation.request) if isinstance(each.kind, inspect.ListType)
    }
    return not any(isinstance(args.get(name), str) for name in lists)


def sentence_of(path: Path) -> str:
    words = path.name.split(".")[0].split("[")[0].removeprefix("test_").replace("_", " ")
    return words.replace(" s ", "'s ").capitalize() + "."


def best(
    known: list[Exchange], kind: str, rank: Callable[[Exchange], tuple[int, bool]]
) -> Exchange | None:
    wanted = [each for each in known if (each.answer["status"] == "refused") == (kind == "refused")]
    return min(wanted, key=rank, default=None)


def by_person(call: dict[str, Any]) -> bool:
    return str(call.get("as")).startswith("person:")


def emptiness(exchange: Exchange) -> tuple[int, bool]:
    """How many lists of the answer are empty: an example should show something."""
    return sum(value == [] for value in exchange.answer.values()), exchange.by_person


def hopelessness(exchange: Exchange) -> tuple[int, bool]:
    """Refusals with a corrected call first, then those that are this operation's own."""
    answer = exchange.answer
    everyones = ("not_signed_in", "not_permitted", "unavailable", "storage_full", "too_large")
    rank = 0 if "try" in answer else 2 if answer["code"] in everyones else 1
    return rank, exchange.by_person


def told(exchange: Exchange) -> str:
    return f"*{exchange.sentence}*"


def asked(operation: Operation[Any, Any], args: dict[str, Any]) -> str:
    """The call as it goes over HTTP, and as a command where there is one."""
    if operation.http is None:
        return json_block(args) if args else ""
    command = command_line(operation, args, [])
    return paragraphs(
        block(request(operation.http, args), "http"), block(command, "sh") if command else ""
    )


def request(http: str, args: dict[str, Any]) -> str:
    method, path = http.split()
    rest = dict(args)
    for name in [name for name in args if f"{{{name}}}" in path]:
        path = path.replace(f"{{{name}}}", str(rest.pop(name)))
    if method in ("GET", "DELETE"):
        return f"{method} {path}?{urlencode(rest)}" if rest else f"{method} {path}"
    return f"{method} {path}\n\n{json.dumps(rest, indent=2, ensure_ascii=False)}"


def on_a_terminal(operation: Operation[Any, Any], refused: dict[str, Any]) -> str:
    """The same refusal as the command line prints it."""
    if operation.cli is None:
        return ""
    args = refused.get("try")
    corrected = command_line(operation, args, []) if isinstance(args, dict) else ""
    return paragraphs("The command line says:", block("\n".join(refusal_lines(refused, corrected))))
