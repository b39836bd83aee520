"""Checks about the SQL: where it stands, that it fits the schema, and how SQLite will run it."""

from __future__ import annotations

import ast
import re
from collections import Counter

import msgspec
from syrupy.assertion import SnapshotAssertion

from tests.source import (
    PRODUCT,
    Statement,
    empty_store,
    listed,
    modules,
    named,
    prepared,
    statements,
)

TABLES = "agentworks/tables"
SQL_ROOMS = ("agentworks/tables/", "agentworks/migrations/", "agentworks/store")
SQL_PLACE = {"rows": 1, "row": 1, "value": 0, "run": 0, "changed": 0}  # store.py's row verbs


def test_sql_stays_with_the_tables() -> None:
    elsewhere = [
        statement.where
        for statement in statements(*PRODUCT)
        if not statement.module.where.startswith(SQL_ROOMS)
    ]
    assert not elsewhere, listed(elsewhere)


def test_a_statement_is_written_out_in_its_call_and_alone_in_its_function() -> None:
    problems = []
    for module in modules(TABLES):
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                place = SQL_PLACE.get(node.func.attr, len(node.args))
                if any(not isinstance(text, ast.Constant) for text in node.args[place : place + 1]):
                    problems.append(f"{module.where}:{node.lineno} its SQL is made elsewhere")
    for name, count in Counter(each.name for each in statements(TABLES)).items():
        if count > 1:
            problems.append(f"{name} holds {count} statements")
    problems += [f"{each.where} is in no call" for each in statements(TABLES) if not each.method]
    assert not problems, listed(problems)


def test_every_statement_fits_the_schema_and_its_plan_is_pinned(golden: SnapshotAssertion) -> None:
    db = empty_store()
    assert golden == {each.name: prepared(db, each).plan for each in statements(TABLES)}


def test_values_reach_a_statement_by_name() -> None:
    db, problems = empty_store(), []
    for each in statements(TABLES):
        parameters = prepared(db, each).parameters
        if not all(name.isidentifier() for name in parameters):
            problems.append(f"{each.where} has a parameter without a name")
        elif each.given is not None and each.given != set(parameters):
            problems.append(f"{each.where} wants {sorted(parameters)}, gets {sorted(each.given)}")
    assert not problems, listed(problems)


def fields_of(statement: Statement) -> tuple[str, ...]:
    """The fields of the Struct its rows are read into; none when that is no Struct."""
    into = named(statement.module, statement.into or "")
    if isinstance(into, type) and issubclass(into, msgspec.Struct):
        return into.__struct_fields__
    return ()


def test_the_columns_of_a_statement_are_the_fields_of_its_row() -> None:
    db, problems = empty_store(), []
    for each in statements(TABLES):
        found, fields = prepared(db, each), fields_of(each)
        if re.search(r"\b(SELECT|RETURNING)\s+(\w+\.)?\*", each.sql):
            problems.append(f"{each.where}: spell the columns out")
        if each.into and found.columns != fields:
            problems.append(f"{each.where} gives {found.columns}, {each.into} has {fields}")
        if each.method == "value" and len(found.columns) != 1:
            problems.append(f"{each.where} gives {len(found.columns)} columns, not one value")
        if found.rest:
            problems.append(f"{each.where} goes on after its end: {found.rest[:40]}")
    assert not problems, listed(problems)
