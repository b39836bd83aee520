"""The source as the tidy tests read it: every module parsed, every SQL statement found."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import apsw.ext

ROOT = Path(__file__).parent.parent
PRODUCT = ("agentworks", "handlers", "scheduler", "cli")
FOLDERS = (*PRODUCT, "fixtures", "bench", "docs", "tests")

Function = ast.FunctionDef | ast.AsyncFunctionDef
SQL = re.compile(
    r"\s*(SELECT\s|INSERT\s+(OR\s+\w+\s+)?INTO\s|REPLACE\s+INTO\s|UPDATE\s+\S+\s+SET\s"
    r"|DELETE\s+FROM\s|WITH\s+(RECURSIVE\s+)?\w+.*\bAS\b|PRAGMA\s|VACUUM\b|ATTACH\s"
    r"|(CREATE|DROP|ALTER)\s+(UNIQUE\s+|TEMP\s+)?(TABLE|INDEX|TRIGGER|VIEW)\s"
    r"|BEGIN(\s+IMMEDIATE|\s+EXCLUSIVE)?\s*(;|$)|(COMMIT|ROLLBACK|SAVEPOINT)\b)",
    re.DOTALL,
)


class Module(NamedTuple):
    """One parsed file. `name` is its dotted import name, `where` its path for a person."""

    name: str
    where: str
    text: str
    tree: ast.Module


class Statement(NamedTuple):
    """One SQL text. `method` and `into` are the row verb and the Struct it is called with.

    `given` holds the named values of that call; None when they are not written out. A text that
    is not the plain argument of a call has no method.
    """

    module: Module
    name: str
    line: int
    sql: str
    method: str | None = None
    into: str | None = None
    given: frozenset[str] | None = None

    @property
    def where(self) -> str:
        return f"{self.module.where}:{self.line} {self.name}"


@cache
def modules(*folders: str) -> tuple[Module, ...]:
    """Every Python file in these folders of the repository, by path."""
    paths = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return tuple(_parsed(path) for path in paths)


@cache
def _parsed(path: Path) -> Module:
    relative = path.relative_to(ROOT)
    name = ".".join(relative.with_suffix("").parts).removesuffix(".__init__")
    text = path.read_text("utf-8")
    return Module(name, str(relative), text, ast.parse(text, str(relative)))


def functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


@cache
def statements(*folders: str) -> tuple[Statement, ...]:
    """Every SQL text in these folders, in reading order, named after the function it is in."""
    found = []
    for module in modules(*folders):
        finder = _Finder(module)
        finder.visit(module.tree)
        found += sorted(finder.found, key=lambda statement: statement.line)
    return tuple(found)


class _Finder(ast.NodeVisitor):
    def __init__(self, module: Module) -> None:
        self.module = module
        self.found: list[Statement] = []
        self._path: list[str] = []
        self._in_calls: set[int] = set()

    def _enter(self, node: Function | ast.ClassDef) -> None:
        self._path.append(node.name)
        self.generic_visit(node)
        self._path.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _enter

    def visit_Call(self, node: ast.Call) -> None:
        for place, argument in enumerate(node.args):
            if _sql(argument) and isinstance(node.func, ast.Attribute):
                self._in_calls.add(id(argument))
                names = [keyword.arg for keyword in node.keywords]
                into = ast.unparse(node.args[0]) if place == 1 else None
                given = None if None in names else frozenset(name for name in names if name)
                self._add(argument, node.func.attr, into, given)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if _sql(node) and id(node) not in self._in_calls:
            self._add(node)

    def _add(self, node: ast.expr, *how: Any) -> None:
        name = ".".join([self.module.name.rpartition(".")[2], *self._path])
        self.found.append(Statement(self.module, name, node.lineno, _sql(node), *how))


def _sql(node: ast.AST) -> str:
    """The SQL text that this expression plainly is, or "" if it is something else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.match(node.value):
        return node.value
    return ""


def named(module: Module, dotted: str) -> Any:
    """What `dotted` means inside `module`; None when it means nothing there."""
    found: Any = importlib.import_module(module.name)
    for part in dotted.split("."):
        found = getattr(found, part, None)
    return found


def empty_store() -> apsw.Connection:
    """A database in memory with the newest schema and no rows but those the schema brings."""
    db = apsw.Connection(":memory:")
    db.execute((ROOT / "schema.sql").read_text("utf-8"))
    return db


class Prepared(NamedTuple):
    """What SQLite makes of a statement: columns, parameters, plan, and text it did not reach."""

    columns: tuple[str, ...]
    parameters: list[str]
    plan: list[str]
    rest: str


def prepared(db: apsw.Connection, statement: Statement) -> Prepared:
    """Raises apsw.SQLError, naming the place, when the statement does not fit the schema."""
    try:
        query = apsw.ext.query_info(db, statement.sql)
        blank = (None,) * len(query.bindings_names)
        explained = db.execute("EXPLAIN QUERY PLAN " + query.first_query, blank).fetchall()
    except apsw.SQLError as wrong:
        wrong.add_note(statement.where)
        raise
    return Prepared(
        columns=tuple(column[0] for column in query.description),
        parameters=[name or "?" for name in query.bindings_names],
        plan=[str(row[3]) for row in explained],
        rest=(query.query_remaining or "").strip(),
    )


def arguments(function: Function | ast.Lambda) -> list[ast.arg]:
    return [each for each in ast.walk(function.args) if isinstance(each, ast.arg)]


def introduced(tree: ast.AST) -> Iterator[tuple[str, int, Function | None]]:
    """Every name this source brings into the world, its line, and the function it belongs to."""
    for function in functions(tree):
        yield function.name, function.lineno, function
        yield from ((each.arg, each.lineno, function) for each in arguments(function))
    for node in ast.walk(tree):
        match node:
            case ast.Lambda():
                yield from ((each.arg, each.lineno, None) for each in arguments(node))
            case (
                ast.ClassDef(name=name)
                | ast.Name(id=name, ctx=ast.Store())
                | ast.Attribute(attr=name, ctx=ast.Store())
                | ast.alias(asname=str(name))
                | ast.ExceptHandler(name=str(name))
            ):
                yield name, node.lineno, None


def imposed(module: Module, method: Function | None) -> bool:
    """Whether another library named this method and its values: by declaring it on a base class,
    or because it is a route, whose body Litestar calls `data`."""
    if method is not None and any(
        ast.unparse(each).startswith(("post(", "get(")) for each in method.decorator_list
    ):
        return True
    for owner in ast.walk(module.tree):
        if isinstance(owner, ast.ClassDef) and method in owner.body and method is not None:
            for base in owner.bases:
                found = named(module, ast.unparse(base))
                for kind in found.__mro__ if isinstance(found, type) else ():
                    ours = kind.__module__.split(".")[0] in FOLDERS
                    if not ours and kind is not object and method.name in vars(kind):
                        return True
    return False


def touched(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every dotted name this source imports or reaches through an attribute, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)
        elif isinstance(node, ast.Attribute):
            yield ast.unparse(node), node.lineno


def listed(problems: list[str]) -> str:
    """Every problem on a line of its own, so that all can be mended at once."""
    return "\n".join(["", *problems])
