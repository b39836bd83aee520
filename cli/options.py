"""An operation's request as options and arguments. Nothing here knows an operation by name.

The rules are read from the declaration alone. A field's `extra={"cli": …}` names its option; a
name in capitals makes it a positional argument; `extra={"pairs": "arg"}` on an object adds
`--arg NAME=VALUE`. Values are judged by the server: here they only have to be readable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import click
import msgspec
from msgspec import NODEFAULT, UNSET, Struct, inspect, structs

from cli.values import json_value, stdin_text, whole_number

LONG_TEXT_CHARACTERS = 1_000  # a text that may be this long may also come from stdin, as "-"

Callback = Callable[[click.Context, click.Parameter, Any], Any]


class Input(Struct, frozen=True):
    """One input of a request as the command line knows it."""

    name: str  # as it goes over the wire
    flag: str  # without dashes
    kind: inspect.Type
    about: str
    required: bool
    default: Any
    positional: bool
    pairs: str  # the flag of NAME=VALUE pairs; empty: none
    clears: bool  # an empty list says something else than no list

    @property
    def stdin(self) -> bool:
        """True when `-` stands for standard input: for long texts, and for JSON."""
        if isinstance(self.kind, inspect.StrType):
            return (self.kind.max_length or 0) >= LONG_TEXT_CHARACTERS
        return is_json(self.kind)


def inputs_of(request: type[Struct]) -> list[Input]:
    """The inputs of a request struct, in the order of its fields."""
    described = inspect.type_info(request)
    assert isinstance(described, inspect.StructType)
    return [_input(field) for field in described.fields]


def _input(field: inspect.Field) -> Input:
    kind, about = field.type, ""
    extra: dict[str, Any] = {}
    while isinstance(kind, inspect.Metadata):
        extra = {**(kind.extra or {}), **extra}
        about = about or (kind.extra_json_schema or {}).get("description", "")
        kind = kind.type
    flag = extra.get("cli", field.encode_name)
    plain = field.default is NODEFAULT and field.default_factory is NODEFAULT
    return Input(
        name=field.encode_name,
        flag=flag.lower().replace("_", "-"),
        kind=kind,
        about=about,
        required=field.required,
        default=UNSET if field.default is NODEFAULT else field.default,
        positional=flag.isupper(),
        pairs=extra.get("pairs", ""),
        clears=isinstance(kind, inspect.ListType) and plain and not field.required,
    )


def is_json(kind: inspect.Type) -> bool:
    """True for a value that is written as JSON: an object, or one that may be anything."""
    return isinstance(kind, inspect.DictType | inspect.StructType | inspect.AnyType)


def parameters_of(request: type[Struct], wait_default: int = 0) -> list[click.Parameter]:
    """click's options and arguments for a request, in the order of its fields.

    `wait_default` is how many seconds the command waits who is not told: --help says so.
    """
    made: list[click.Parameter] = []
    for each in inputs_of(request):
        if each.name == "wait_seconds" and wait_default:
            each = structs.replace(each, default=wait_default)
        made += _parameters(each)
    return made


def _parameters(each: Input) -> Iterator[click.Parameter]:
    many = isinstance(each.kind, inspect.ListType)
    if each.positional:
        names, count = [each.name], -1 if many else 1
        yield click.Argument(
            names,
            required=each.required,
            nargs=count,
            callback=reader(each),
            metavar=each.flag.upper(),
        )
        return
    if isinstance(each.kind, inspect.BoolType):
        names = [f"--{each.flag}/--no-{each.flag}", each.name]
        yield click.Option(names, default=None, required=each.required, help=each.about)
        return
    yield click.Option(
        [f"--{each.flag}", each.name],
        required=each.required and not each.pairs,
        multiple=many,
        callback=reader(each),
        metavar=metavar(each.kind),
        help=_help(each),
        shell_complete=lambda ctx, param, start: [
            c for c in choices(each.kind) if c.startswith(start)
        ],
    )
    if each.clears:
        about = f"An empty list for --{each.flag}."
        yield click.Option([f"--no-{each.flag}", f"no_{each.name}"], is_flag=True, help=about)
    if each.pairs:
        about = f"One entry of --{each.flag}; the value is text. May be repeated."
        names = [f"--{each.pairs}", f"pairs_{each.name}"]
        yield click.Option(names, multiple=True, metavar="NAME=VALUE", help=about)


def _help(each: Input) -> str:
    default = f"  [default: {each.default}]" if isinstance(each.default, int | str) else ""
    many = " May be repeated." if isinstance(each.kind, inspect.ListType) else ""
    return f"{each.about}{many}{default}"


def metavar(kind: inspect.Type) -> str:
    """What stands behind an option in --help."""
    if isinstance(kind, inspect.ListType):
        return metavar(kind.item_type)
    if found := choices(kind):
        return f"[{'|'.join(found)}]"
    if isinstance(kind, inspect.IntType):
        return "INTEGER"
    return "JSON" if is_json(kind) else "TEXT"


def choices(kind: inspect.Type) -> list[str]:
    """The values of an enumeration, offered by completion; the server judges them."""
    if isinstance(kind, inspect.ListType):
        return choices(kind.item_type)
    if isinstance(kind, inspect.EnumType):
        return [str(member.value) for member in kind.cls]
    if isinstance(kind, inspect.LiteralType):
        return [str(value) for value in kind.values]
    return []


def reader(each: Input) -> Callback:
    """A click callback that reads an input's words; a list is read word by word."""
    one: Callable[[str], Any] = str
    kind = each.kind.item_type if isinstance(each.kind, inspect.ListType) else each.kind
    if isinstance(kind, inspect.IntType):
        one = whole_number
    elif isinstance(kind, inspect.FloatType):
        one = json_value
    elif is_json(kind):
        one = json_value

    def read(ctx: click.Context, param: click.Parameter, given: Any) -> Any:
        if given is None or given == ():
            return None
        if isinstance(given, tuple):
            return [one(word) for word in given]
        return one(stdin_text(ctx, param) if each.stdin and given == "-" else given)

    return read


def args_from(request: type[Struct], values: dict[str, Any]) -> dict[str, Any]:
    """The inputs that were given, as they go over the wire."""
    args: dict[str, Any] = {}
    for each in inputs_of(request):
        value = values.get(each.name)
        if each.clears and values.get(f"no_{each.name}"):
            if value is not None:
                raise click.UsageError(f"--{each.flag} and --no-{each.flag} exclude each other")
            value = []
        if pairs := values.get(f"pairs_{each.name}"):
            value = with_pairs(value, pairs, each)
        if value is not None:
            args[each.name] = value
        elif each.required:
            raise click.UsageError(f"Missing option '--{each.flag}'.")
    return args


def with_pairs(value: msgspec.Raw | None, pairs: tuple[str, ...], each: Input) -> dict[str, Any]:
    """An object made of JSON and NAME=VALUE pairs, each name once."""
    found: dict[str, Any] = {}
    try:
        if value is not None:
            found.update(msgspec.json.decode(value, type=dict[str, msgspec.Raw]))
    except msgspec.ValidationError:
        raise click.UsageError(f"--{each.flag} is not an object, as --{each.pairs} needs") from None
    for pair in pairs:
        name, separator, text = pair.partition("=")
        if not separator or not name:
            raise click.UsageError(f"--{each.pairs} needs NAME=VALUE, not {pair!r}")
        if name in found:
            raise click.UsageError(f"{name!r} is given twice")
        found[name] = text
    return found
