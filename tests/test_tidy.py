"""Checks about the code itself: what the house rules say, the suite enforces."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from typing import Any

from msgspec import inspect

from agentworks.contracts import PROTOCOL
from agentworks.rules import limits
from tests.golden import GOLDEN
from tests.source import (
    FOLDERS,
    PRODUCT,
    ROOT,
    empty_store,
    functions,
    imposed,
    introduced,
    listed,
    modules,
    touched,
)

BANNED = {"manager", "service", "helper", "util", "data", "info"}  # house rules, glossary

# Who may reach out of the process, and who may know what HTTP is.
ACTING = ("agentworks/runners/", "agentworks/server", "cli/")
SPEAKING = ("agentworks/surfaces/", "agentworks/web/")
ONLY_IN = {
    **dict.fromkeys(("subprocess", "multiprocessing", "os.system", "os.popen", "os.fork"), ACTING),
    **dict.fromkeys(("asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell"), ACTING),
    **dict.fromkeys(("socket", "asyncio.open_connection", "http.client", "httpx"), ACTING),
    **dict.fromkeys(("urllib.request", "requests", "uvicorn"), ACTING),
    **dict.fromkeys(("http.HTTPStatus", "litestar.status_codes"), SPEAKING),
}


# ── Form ─────────────────────────────────────────────────────────────────────────────────────


def test_a_module_opens_with_a_sentence() -> None:
    problems = []
    for module in modules(*FOLDERS):
        opening = (ast.get_docstring(module.tree) or "").split("\n\n")[0].rstrip()
        if module.text.strip() and not opening.endswith((".", "?", "!")):
            problems.append(f"{module.where}: say in a sentence what this module is for")
    assert not problems, listed(problems)


def test_a_module_stays_under_300_lines_and_a_function_under_50() -> None:
    problems = []
    for module in modules(*FOLDERS):
        length = len(module.text.splitlines())
        if length >= 300:
            problems.append(f"{module.where}: {length} lines")
        for function in functions(module.tree):
            length = (function.end_lineno or 0) - function.lineno + 1
            if length >= 50:
                problems.append(f"{module.where}:{function.lineno} {function.name}: {length} lines")
    assert not problems, listed(problems)


def words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def banned(name: str, where: str) -> bool:
    spoken = words(name)
    return (
        any(word in BANNED or word.removesuffix("s") in BANNED for word in spoken)
        or spoken[:1] == ["handle"]
        or ("error" in spoken and where.startswith("agentworks/contracts/"))
    )


def test_no_name_uses_a_word_that_says_nothing() -> None:
    problems = []
    for module in modules(*FOLDERS):
        if banned(module.name.rpartition(".")[2], module.where):
            problems.append(module.where)
        for name, line, function in introduced(module.tree):
            if banned(name, module.where) and not imposed(module, function):
                problems.append(f"{module.where}:{line} {name}")
        for function in functions(module.tree):
            if words(function.name)[:1] == ["process"]:
                problems.append(f"{module.where}:{function.lineno} {function.name}")
    assert not problems, listed(problems)


def test_only_the_named_rooms_touch_processes_the_network_and_http_statuses() -> None:
    problems = []
    for module in modules(*PRODUCT):
        for name, line in touched(module.tree):
            for reach, rooms in ONLY_IN.items():
                if f"{name}.".startswith(f"{reach}.") and not module.where.startswith(rooms):
                    problems.append(f"{module.where}:{line} {name}")
    assert not problems, listed(problems)


def test_every_room_has_its_layer() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = next(each["layers"] for each in contracts["contracts"] if each["type"] == "layers")
    placed = {name.strip(" ()") for layer in layers for name in re.split("[|:]", layer)}
    rooms = {module.name.split(".")[1] for module in modules("agentworks") if "." in module.name}
    unplaced = [room for room in sorted(rooms) if f"agentworks.{room}" not in placed]
    assert not unplaced, listed(unplaced)


def test_the_command_line_starts_without_the_server() -> None:
    heavy = {"agentworks.store", "apsw", "jsonschema", "litestar", "uvicorn"}
    asked = f"import cli, sys; print(sorted({heavy!r} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, cwd=ROOT)
    assert (ran.stdout, ran.stderr) == ("[]\n", "")


# ── The contract ─────────────────────────────────────────────────────────────────────────────


def nested(found: inspect.Type) -> Iterator[inspect.StructType]:
    """The structs inside an input's type."""
    match found:
        case inspect.StructType():
            yield found
        case inspect.Metadata(type=inner) | inspect.ListType(item_type=inner):
            yield from nested(inner)
        case inspect.DictType(value_type=inner):
            yield from nested(inner)
        case inspect.UnionType(types=several):
            for inner in several:
                yield from nested(inner)


def undescribed(struct: inspect.StructType) -> Iterator[str]:
    for field in struct.fields:
        schema = field.type.extra_json_schema if isinstance(field.type, inspect.Metadata) else None
        if not (schema or {}).get("description"):
            yield f"{struct.cls.__name__}.{field.name}"
        for inner in nested(field.type):
            yield from undescribed(inner)


def test_every_input_of_every_operation_is_described() -> None:
    problems = []
    for operation in PROTOCOL:
        request = inspect.type_info(operation.request)
        assert isinstance(request, inspect.StructType)
        problems += [f"{operation.name}: {field}" for field in undescribed(request)]
    assert not problems, listed(problems)


def exchanges(found: Any) -> Iterator[tuple[str, str]]:
    """(operation, code) of each refused exchange in a golden: alone, or one of a list."""
    match found:
        case list():
            for each in found:
                yield from exchanges(each)
        case {"call": {"operation": str(operation)}, "answer": {"status": status, "code": code}}:
            if status == "refused" or status == code == "busy":
                yield operation, code


def test_every_refusal_of_every_operation_has_a_golden_exchange() -> None:
    shown = {
        exchange
        for path in GOLDEN.rglob("*.json")
        for exchange in exchanges(json.loads(path.read_text("utf-8")))
    }
    every = [(each.name, code.value) for each in PROTOCOL for code in each.every_refusal]
    missing = [
        f"{operation}: {code}" for operation, code in every if (operation, code) not in shown
    ]
    assert not missing, listed(missing)


def test_every_golden_belongs_to_a_test() -> None:
    tests = {
        (module.name.rpartition(".")[2], function.name)
        for module in modules("tests")
        for function in functions(module.tree)
    }
    orphans = []
    for path in sorted(each for each in GOLDEN.rglob("*") if each.is_file()):
        test = (path.parent.name, re.split(r"[.\[]", path.name)[0])
        if path.suffix != ".json" or path.parent.parent != GOLDEN or test not in tests:
            orphans.append(str(path.relative_to(GOLDEN)))
    assert not orphans, listed(orphans)


# ── The documentation ────────────────────────────────────────────────────────────────────────


def test_every_limit_is_in_the_documentation() -> None:
    shown = set(re.findall(r"\w+", (ROOT / "docs/limits.md").read_text("utf-8")))
    missing = [name for name in vars(limits) if name.isupper() and name not in shown]
    assert not missing, listed(missing)


def test_every_legal_move_is_in_the_documentation() -> None:
    shown, db = (ROOT / "docs/states.md").read_text("utf-8"), empty_store()
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    moves = [name for name in tables if name.endswith("_moves")]
    missing = [name for name in moves if name not in shown]
    for table in moves:
        for move in db.execute(f"SELECT was, becomes, because FROM {table}"):
            missing += [f"{table}: {word}" for word in move if str(word) not in shown]
    assert moves and not missing, listed(missing)
