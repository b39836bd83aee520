"""Functions: the named work of an agent, as its authors saved it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from agentworks.contracts.refusal import Input
from agentworks.store import Snapshot, Transaction

_decode_inputs = msgspec.json.Decoder(tuple[Input, ...]).decode


class Function(Struct, frozen=True):
    """A function whole. `inputs` and `result_schema` are JSON texts, `allowed_callers` words."""

    agent_id: str
    name: str
    place: int
    description: str
    inputs: str
    result_schema: str | None
    allowed_callers: str
    instructions: str

    @property
    def declared(self) -> tuple[Input, ...]:
        """Its inputs in order. Equal texts give one object, so this costs a look-up."""
        return inputs_of(self.inputs)

    @property
    def schema(self) -> dict[str, Any] | None:
        """What its result must be, or None when anything will do."""
        return None if self.result_schema is None else msgspec.json.decode(self.result_schema)


class Offered(Struct, frozen=True):
    """What a list shows of a function."""

    agent_id: str
    name: str
    description: str
    inputs: str
    allowed_callers: str

    @property
    def declared(self) -> tuple[Input, ...]:
        return inputs_of(self.inputs)


class Named(Struct, frozen=True):
    agent_id: str
    name: str
    allowed_callers: str


@lru_cache(maxsize=1024)
def inputs_of(text: str) -> tuple[Input, ...]:
    return _decode_inputs(text)


def inputs_text(inputs: Sequence[Input]) -> str:
    """Inputs as they are kept; big integers stay exact."""
    return msgspec.json.encode(inputs).decode()


def find(db: Snapshot, agent_id: str, name: str) -> Function | None:
    return db.row(
        Function,
        """
        SELECT agent_id, name, place, description, inputs, result_schema, allowed_callers,
               instructions
        FROM functions
        WHERE agent_id = :agent_id
          AND name = :name
        """,
        agent_id=agent_id,
        name=name,
    )


def of_agent(db: Snapshot, agent_id: str) -> list[Function]:
    """In the order their authors gave them."""
    return db.rows(
        Function,
        """
        SELECT agent_id, name, place, description, inputs, result_schema, allowed_callers,
               instructions
        FROM functions
        WHERE agent_id = :agent_id
        ORDER BY place, name
        """,
        agent_id=agent_id,
    )


def offered(db: Snapshot, agent_id: str) -> list[Offered]:
    """Those of one agent, without what callers are never shown."""
    return db.rows(
        Offered,
        """
        SELECT agent_id, name, description, inputs, allowed_callers
        FROM functions
        WHERE agent_id = :agent_id
        ORDER BY place, name
        """,
        agent_id=agent_id,
    )


def names_visible(db: Snapshot, account_id: str) -> list[Named]:
    """The functions of every agent the account owns or has a role on."""
    return db.rows(
        Named,
        """
        SELECT functions.agent_id, functions.name, functions.allowed_callers
        FROM functions
        WHERE functions.agent_id IN (
            SELECT agent_id FROM agents WHERE account_id = :account_id
            UNION ALL
            SELECT agent_id FROM members WHERE account_id = :account_id
        )
        """,
        account_id=account_id,
    )


def put(
    tx: Transaction,
    agent_id: str,
    name: str,
    place: int,
    description: str,
    inputs: str,
    result_schema: str | None,
    allowed_callers: str,
    instructions: str,
) -> None:
    """Save it, in place of one of that name. Calls already accepted keep what they began with."""
    tx.run(
        """
        INSERT INTO functions
            (agent_id, name, place, description, inputs, result_schema, allowed_callers,
             instructions, changed_at)
        VALUES
            (:agent_id, :name, :place, :description, :inputs, :result_schema, :allowed_callers,
             :instructions, :now)
        ON CONFLICT (agent_id, name) DO UPDATE
        SET place = excluded.place, description = excluded.description, inputs = excluded.inputs,
            result_schema = excluded.result_schema, allowed_callers = excluded.allowed_callers,
            instructions = excluded.instructions, changed_at = excluded.changed_at
        """,
        agent_id=agent_id,
        name=name,
        place=place,
        description=description,
        inputs=inputs,
        result_schema=result_schema,
        allowed_callers=allowed_callers,
        instructions=instructions,
        now=tx.now,
    )


def remove(tx: Transaction, agent_id: str, name: str) -> None:
    tx.run(
        "DELETE FROM functions WHERE agent_id = :agent_id AND name = :name",
        agent_id=agent_id,
        name=name,
    )
