"""The reference: a page for each operation, and the list of all."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from agentworks.contracts import PROTOCOL
from agentworks.contracts.operation import CallerKind, Operation
from agentworks.contracts.refusal import Refused
from agentworks.surfaces.http import STATUS
from cli.options import Input, inputs_of
from docs.printed import exchanges, refusals
from docs.printed.comments import commented
from docs.printed.markdown import code, codes, paragraphs, plain, table
from docs.printed.types import Field, default_of, described, fields, nested


def index() -> str:
    """Every operation with its ways in."""
    heads = ("Operation", "Does", "HTTP", "Command")
    rows = [
        (
            f"[{each.name}]({each.name}.md)",
            plain(each.about),
            code(each.http) if each.http else "",
            code(f"agentworks {each.cli}") if each.cli else "",
        )
        for each in PROTOCOL
    ]
    return table(heads, rows)


def page(operation: Operation[Any, Any]) -> str:
    """The whole reference page of one operation."""
    return paragraphs(
        f"# {operation.name}",
        plain(operation.about),
        table(("", ""), facts(operation)),
        inputs(operation),
        answers(operation),
        refused(operation),
        exchanges.printed(operation),
        "[All operations](README.md)",
    )


def facts(operation: Operation[Any, Any]) -> list[tuple[str, str]]:
    offered = [each.value for each in CallerKind if each in operation.offered_to]
    kind = "changes nothing" if operation.reads else "writes"
    found = [
        ("HTTP", code(operation.http) if operation.http else "none; it is on the server's pages"),
        ("Command", code(f"agentworks {operation.cli}") if operation.cli else "none"),
        ("Tool names", codes(map(tool, operation.tools)) if operation.tools else ""),
        ("Scope", code(operation.scope.value) if operation.scope else "none needed"),
        ("Offered to", ", ".join(offered)),
        ("Kind", kind),
    ]
    if operation.submits:
        found.append(("Retry", "the same `submission_id` gives the same answer"))
    return [(name, value) for name, value in found if value]


def tool(name: str) -> str:
    """`messages:send` is the action `send` of the tool `messages`."""
    group, _, action = name.partition(":")
    return f"{group} action={action}" if action else group


def inputs(operation: Operation[Any, Any]) -> str:
    options = {each.name: each for each in inputs_of(operation.request)} if operation.cli else {}
    rows = []
    for each in fields(operation.request):
        option = options.get(each.name)
        about = each.about + (" On the CLI, `-` reads stdin." if stdin_unsaid(each, option) else "")
        rows.append((code(each.name), taken(each), default_of(each), flag(option), plain(about)))
    if not rows:
        return paragraphs("## Inputs", "None.")
    heads = ("Input", "Takes", "Left out", "Option", "Means")
    return paragraphs("## Inputs", table(heads, rows))


def flag(option: Input | None) -> str:
    """How an input is written on the command line."""
    if option is None:
        return ""
    return code(option.flag.upper() if option.positional else f"--{option.flag}")


def stdin_unsaid(each: Field, option: Input | None) -> bool:
    return option is not None and option.stdin and "stdin" not in each.about


def taken(each: Field) -> str:
    """The type of an input; a loosely declared list says what it holds."""
    words = described(each.kind)
    if each.items is None:
        return words
    for operation in PROTOCOL:
        if operation.request is each.items:
            return words.replace(
                "any value", f"with the inputs of [{operation.name}]({operation.name}.md)"
            )
    return words


def answers(operation: Operation[Any, Any]) -> str:
    parts, inner = [], dict[str, type[Struct]]()
    for answer in operation.answers:
        parts += shape(answer)
        for each in fields(answer):
            inner |= {cls.__name__: cls for cls in nested(each.kind)}
    for name, cls in inner.items():
        if cls is Refused:
            parts += [f"### {name}", "A refusal; see [refusals](../refusals.md)."]
        elif cls not in operation.answers:
            parts += shape(cls)
    return paragraphs("## Answers", *parts)


def shape(struct: type[Struct]) -> list[str]:
    """A struct's heading, its sentence, and its fields."""
    config = struct.__struct_config__
    notes = {each.name: each.comment for each in commented(struct)}
    rows = [] if config.tag is None else [(code("status"), code(str(config.tag)), "", "")]
    rows += [
        (
            code(each.name),
            described(each.kind),
            "may be missing" if config.omit_defaults and not each.required else "",
            plain(each.about or notes.get(each.name, "")),
        )
        for each in fields(struct)
    ]
    about = struct.__dict__.get("__doc__") or ""
    return [f"### {struct.__name__}", prose(about), table(("Field", "Is", "", "Means"), rows)]


def prose(docstring: str) -> str:
    lines = [line.strip() for line in docstring.strip().splitlines()]
    return plain("\n".join(lines))


def refused(operation: Operation[Any, Any]) -> str:
    meaning = refusals.meanings()
    rows = [
        (f"[{each.value}](../refusals.md)", str(int(STATUS[each])), meaning[each.value])
        for each in operation.every_refusal
    ]
    return paragraphs("## Refusals", table(("Code", "HTTP", "Means"), rows))
