"""Saving a definition: who is meant by its names, and which rows it becomes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import msgspec
from msgspec import Struct

from agentworks import targets
from agentworks.contracts.definitions import CrewDefinition, FunctionDefinition
from agentworks.contracts.operation import Caller
from agentworks.rules import crews
from agentworks.rules.changes import Content
from agentworks.rules.conversion import got
from agentworks.rules.names import name_key
from agentworks.rules.strict_json import child
from agentworks.store import Snapshot, Transaction
from agentworks.tables import accounts, agent_files, agents, functions, members, triggers
from handlers.crews import stored

_MINUTE = 60  # seconds


class Known(Struct, frozen=True):
    """The accounts and callers that a definition names, as the rows know them."""

    accounts: dict[str, str]  # account ids by the names used
    names: dict[str, str]  # the names as those accounts write them, by the names used
    callers: dict[str, str]  # allow-list entries as they are kept, by their text
    problems: list[str]

    @classmethod
    def of(
        cls, db: Snapshot, caller: Caller, given: dict[str, Any], was: CrewDefinition | None
    ) -> Self:
        """`was` is the definition it replaces: whom that admits may stay, even when gone."""
        known = cls({}, {}, {}, [])
        known.look_up_members(db, caller, given)
        kept = {} if was is None else {each: each for each in admitted_by(was)}
        for at, entry in crews.callers_in(given):
            found = kept.get(entry) or targets.allowed_caller(db, caller, entry)
            if found is None:
                known.problems.append(f"{at} names nobody here (got {got(entry)})")
            else:
                known.callers[entry] = found
        return known

    def look_up_members(self, db: Snapshot, caller: Caller, given: dict[str, Any]) -> None:
        for name in crews.members_in(given):
            account = accounts.by_name(db, name)
            at = child("members", name)
            if account is None:
                self.problems.append(f"{at}: there is no account of that name")
            elif account.account_id in self.accounts.values():
                self.problems.append(f"{at} is there twice")
            else:
                self.accounts[account.name] = account.account_id
                self.names[name] = account.name

    def resolved(self, definition: CrewDefinition) -> CrewDefinition:
        """The definition as it is kept: accounts by their own spelling, callers by their ids."""
        return msgspec.structs.replace(
            definition,
            members={self.names[name]: role for name, role in sorted(definition.members.items())},
            functions=[admitting(each, self.callers) for each in definition.functions],
            triggers=sorted(definition.triggers, key=lambda each: each.id),
        )


def admitted_by(definition: CrewDefinition) -> list[str]:
    return [entry for each in definition.functions for entry in each.allowed_callers]


def admitting(function: FunctionDefinition, callers: Mapping[str, str]) -> FunctionDefinition:
    """The function with its allow-list as it is kept, each entry once."""
    kept = dict.fromkeys(callers[entry] for entry in function.allowed_callers)
    return msgspec.structs.replace(function, allowed_callers=list(kept))


# ── rows ─────────────────────────────────────────────────────────────────────────────────────


def save(
    tx: Transaction, agent_id: str, definition: CrewDefinition, account_ids: Mapping[str, str]
) -> None:
    """Everything but the files. Calls already accepted keep what they began with."""
    agents.change(
        tx,
        agent_id,
        definition.name,
        name_key(definition.name),
        definition.about,
        definition.instructions,
        definition.messaging,
        json_text(definition.runtime),
        definition.idle_minutes * _MINUTE,
    )
    save_members(tx, agent_id, definition, account_ids)
    save_functions(tx, agent_id, definition.functions)
    save_triggers(tx, agent_id, definition)


def save_members(
    tx: Transaction, agent_id: str, definition: CrewDefinition, account_ids: Mapping[str, str]
) -> None:
    wanted = {account_ids[name]: role for name, role in definition.members.items()}
    for member in members.of_agent(tx, agent_id):
        if member.account_id not in wanted:
            members.remove(tx, agent_id, member.account_id)
    for account_id, role in wanted.items():
        members.put(tx, agent_id, account_id, role)


def save_functions(tx: Transaction, agent_id: str, wanted: list[FunctionDefinition]) -> None:
    names = {each.name for each in wanted}
    for saved in functions.of_agent(tx, agent_id):
        if saved.name not in names:
            functions.remove(tx, agent_id, saved.name)
    for place, each in enumerate(wanted):
        functions.put(
            tx,
            agent_id,
            each.name,
            place,
            each.description,
            functions.inputs_text(each.inputs),
            json_text(each.result_schema),
            " ".join(each.allowed_callers),
            each.instructions,
        )


def save_triggers(tx: Transaction, agent_id: str, definition: CrewDefinition) -> None:
    wanted = {each.id: each.conversation for each in definition.triggers}
    for saved in triggers.of_agent(tx, agent_id):
        if saved.trigger_id not in wanted:
            triggers.remove(tx, agent_id, saved.trigger_id)
    for trigger_id, conversation in wanted.items():
        triggers.put(tx, agent_id, trigger_id, conversation)


def save_files(
    tx: Transaction,
    agent_id: str,
    was: Mapping[str, Content],
    wanted: Mapping[str, Content],
    contents: Mapping[str, bytes],
) -> None:
    """Only what differs is written; its runner places it before the next turn."""
    for path in was.keys() - wanted.keys():
        agent_files.remove(tx, agent_id, path)
    for path, content in wanted.items():
        if was.get(path) != content:
            agent_files.put(tx, agent_id, path, contents[path], content.sha256)


def contents_for(
    db: Snapshot, agent_id: str, runtime: Mapping[str, Any] | None
) -> dict[str, bytes | None]:
    """An agent's files by path, with the content of the one its runtime reads."""
    found: dict[str, bytes | None] = dict.fromkeys(stored.files_of(db, agent_id))
    name = "" if runtime is None else runtime.get("file", "")
    if name in found:
        kept = agent_files.find(db, agent_id, name)
        found[name] = kept.content if kept else None
    return found


def json_text(value: Any) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()
