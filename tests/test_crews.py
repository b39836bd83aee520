"""Agents changed piece by piece: looked at, shared, switched, paused, deleted; their functions."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agentworks.contracts import calls, crews, functions
from agentworks.contracts.operation import Operation
from agentworks.rules import limits
from tests import office
from tests.conftest import World
from tests.office import COMMAND, NOTES, REVIEWER, SCRIPTED, apply, crew, definition, rows
from tests.source import empty_store

a_world = office.a_world


# ── looking at one ───────────────────────────────────────────────────────────────────────────


def test_an_owner_sees_what_an_agent_is(world: World, golden: Any) -> None:
    assert golden == world.call(crews.GET, "ada", target="PR Reviewer")


def test_others_see_neither_members_nor_prompts_nor_settings(world: World) -> None:
    shown = msgspec.json.encode(world.answer(crews.GET, "bob", target="PR Reviewer")).decode()
    assert '"role":"runner"' in shown
    for private in ("members", "cleo", "review code", "Read the diff", "otherwise", "style.md"):
        assert private not in shown


def test_a_definition_is_exported_with_its_files(world: World, golden: Any) -> None:
    assert golden == world.call(crews.EXPORT, "cleo", target="PR Reviewer")


def test_only_editors_export_since_instructions_are_never_shown_to_callers(
    world: World, golden: Any
) -> None:
    assert golden == world.call(crews.EXPORT, "bob", target="PR Reviewer")


# ── members ──────────────────────────────────────────────────────────────────────────────────


def test_a_role_is_given_changed_and_taken_away(world: World, golden: Any) -> None:
    exchanges = [
        world.call(crews.SET_MEMBER, "ada", target=NOTES, account_name="Cleo", role="reader"),
        world.call(crews.SET_MEMBER, "ada", target=NOTES, account_name="cleo", role="owner"),
        world.call(crews.SET_MEMBER, "ada", target=NOTES, account_name="cleo"),
    ]
    assert golden == exchanges
    assert world.answer(crews.GET, "cleo", target=NOTES).code == "not_found"


def test_a_member_with_the_owner_role_shares_on(world: World) -> None:
    world.answer(crews.SET_MEMBER, "ada", target=NOTES, account_name="bob", role="owner")
    world.answer(crews.SET_MEMBER, "bob", target=NOTES, account_name="cleo", role="reader")
    assert world.answer(crews.GET, "cleo", target=NOTES).role == "reader"


def test_an_unknown_account_gets_no_role(world: World) -> None:
    answer = world.answer(
        crews.SET_MEMBER, "ada", target=NOTES, account_name="nobody", role="reader"
    )
    assert (answer.code, answer.problems) == ("not_found", ['no account "nobody"'])


def test_the_owner_needs_no_role(world: World) -> None:
    for name in ("ada", "bob"):
        world.answer(crews.SET_MEMBER, "ada", target=NOTES, account_name="bob", role="owner")
        answer = world.answer(
            crews.SET_MEMBER, name, target=NOTES, account_name="ada", role="reader"
        )
        assert answer.code == "invalid_input"


def test_a_code_agent_is_shared_with_nobody(world: World) -> None:
    answer = world.answer(crews.SET_MEMBER, "ada", target="Desk", account_name="bob", role="reader")
    assert answer.code == "invalid_input"


def test_an_agent_has_so_many_members_and_no_more(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MEMBERS_PER_AGENT_MAX", 1)
    more = {"target": NOTES, "role": "runner"}
    assert world.answer(crews.SET_MEMBER, "ada", account_name="bob", **more).role == "runner"
    answer = world.answer(crews.SET_MEMBER, "ada", account_name="cleo", **more)
    assert answer.code == "not_permitted"


# ── messaging, runtime, pause ────────────────────────────────────────────────────────────────


def test_the_messaging_switch_is_turned(world: World, golden: Any) -> None:
    assert golden == [
        world.call(crews.SET_MESSAGING, "ada", target="PR Reviewer", on=on) for on in (False, True)
    ]


def test_a_runtime_is_set_and_taken_away(world: World, golden: Any) -> None:
    assert golden == [
        world.call(crews.SET_RUNTIME, "ada", target="Release Notes", runtime=runtime)
        for runtime in (SCRIPTED, COMMAND, '{"name":"command","argv":["true"]}', None)
    ]
    assert "runtime" not in definition(world, "ada", "Release Notes")


def test_everything_wrong_with_a_runtime_is_told_at_once(world: World, golden: Any) -> None:
    wrong = {"name": "command", "argv": ["", 5], "steer": "yes", "shell": True}
    assert golden == world.call(crews.SET_RUNTIME, "ada", target="PR Reviewer", runtime=wrong)
    assert definition(world, "ada", "PR Reviewer")["runtime"] == SCRIPTED | {
        "otherwise": [{"say": "Reviewed."}]
    }


def test_programs_are_for_owners_to_choose(world: World) -> None:
    for runtime in (COMMAND, {"name": "python", "file": "knowledge/style.md"}):
        answer = world.answer(crews.SET_RUNTIME, "cleo", target="PR Reviewer", runtime=runtime)
        assert (answer.code, answer.problems) == (
            "not_permitted",
            ["runtime: only an owner may say what programs PR Reviewer starts"],
        )
    assert (
        world.answer(crews.SET_RUNTIME, "cleo", target="PR Reviewer", runtime=SCRIPTED).runtime
        == "scripted"
    )


def test_an_editor_may_repeat_or_end_a_program_and_not_begin_one(world: World) -> None:
    world.answer(crews.SET_RUNTIME, "ada", target="PR Reviewer", runtime=COMMAND)
    for runtime, name in ((COMMAND, "command"), (None, None)):
        answer = world.answer(crews.SET_RUNTIME, "cleo", target="PR Reviewer", runtime=runtime)
        assert answer.runtime == name


def test_a_runtime_that_reads_a_file_needs_that_file(world: World) -> None:
    for runtime in ({"name": "python", "file": "x.py"}, {"name": "scripted", "file": "x.toml"}):
        answer = world.answer(crews.SET_RUNTIME, "ada", target="PR Reviewer", runtime=runtime)
        assert answer.problems == [
            f"runtime.file {runtime['file']} is not among the files of the agent"
        ]


def test_a_person_holds_the_wakeups_of_an_agent_and_lets_them_go(world: World, golden: Any) -> None:
    held = world.call(crews.PAUSE, "person:cleo", target="PR Reviewer", on=True)
    paused_at = world.answer(crews.GET, "bob", target="PR Reviewer").paused_at
    world.now += 60_000
    world.answer(crews.PAUSE, "person:ada", target="PR Reviewer", on=True)
    assert world.answer(crews.GET, "bob", target="PR Reviewer").paused_at == paused_at
    assert golden == [held, world.call(crews.PAUSE, "person:cleo", target="PR Reviewer", on=False)]
    assert world.answer(crews.GET, "bob", target="PR Reviewer").paused_at is None


def test_the_owner_of_the_server_holds_every_wakeup(world: World) -> None:
    assert world.answer(crews.PAUSE, "person:ada", on=True).agent_id == ""
    assert world.transact(lambda tx: tx.value("SELECT paused_at FROM store")) == world.now
    world.answer(crews.PAUSE, "person:ada", on=False)
    assert world.transact(lambda tx: tx.value("SELECT paused_at FROM store")) is None


def test_others_hold_only_what_they_edit(world: World, golden: Any) -> None:
    assert world.answer(crews.PAUSE, "person:bob", on=True).code == "not_permitted"
    assert world.answer(crews.PAUSE, "person:bob", target=NOTES, on=True).code == "not_permitted"
    assert golden == [
        world.call(crews.PAUSE, "person:bob", target="Releas", on=True),
        world.call(crews.PAUSE, "person:ada", target="latency", on=True),
    ]


def test_no_program_holds_a_wakeup(world: World) -> None:
    assert world.answer(crews.PAUSE, "ada", on=True).code == "not_permitted"


# ── deleting ─────────────────────────────────────────────────────────────────────────────────


def test_a_deleted_agent_takes_everything_of_its_own_along(world: World, golden: Any) -> None:
    asked = {"target": "PR Reviewer", "function": "review_pr", "args": {"PR_NUMBER": 7}}
    call_id = world.answer(functions.CALL, "bob", **asked).call_id
    assert golden == world.call(crews.DELETE, "ada", target="PR Reviewer")
    for table in ("members", "functions", "triggers", "agent_files", "chats", "calls", "turns"):
        assert REVIEWER not in str(rows(world, table)), table
    assert call_id not in str(rows(world, "calls"))
    assert world.answer(crews.GET, "ada", target="PR Reviewer").code == "not_found"
    assert apply(world, "ada", crew("PR Reviewer")).created


def test_the_folder_of_a_deleted_agent_goes_with_it(world: World, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    folder = world.agents / REVIEWER
    (folder / "outputs").mkdir(parents=True)
    (folder / "outputs" / "away").symlink_to(kept)
    (folder / "outputs" / "x").write_text("x")
    world.answer(crews.DELETE, "ada", target="PR Reviewer")
    assert not folder.exists()
    assert kept.exists()


def test_whoever_waits_for_a_call_of_it_learns_that_it_is_gone(world: World) -> None:
    asked = {"target": "PR Reviewer", "function": "review_pr", "args": {"PR_NUMBER": 7}}
    call_id = world.answer(functions.CALL, "bob", **asked).call_id

    asking: Operation[Any, Any] = calls.GET
    asked_for = {"call_id": call_id, "after": 1, "wait_seconds": 20}

    async def scene() -> Any:
        waiting = asyncio.ensure_future(world.dispatch(asking, world.who("bob"), asked_for))
        while not world.bells.waiters:
            await asyncio.sleep(0.01)
        await world.dispatch(crews.DELETE, world.who("ada"), {"target": "PR Reviewer"})
        return await waiting

    assert world.run(scene()).code == "not_found"


def test_what_an_agent_takes_along_is_found_without_looking_at_everything() -> None:
    """Each row that refers to an agent, or to what is an agent's, is reached by an index."""
    db, missing = empty_store(), []
    named = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    for (table,) in named:
        firsts = {row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[5] == 1}
        for (index,) in [(row[1],) for row in db.execute(f"PRAGMA index_list({table})")]:
            firsts.add(next(iter(db.execute(f"PRAGMA index_info({index})")))[2])
        for reference in db.execute(f"PRAGMA foreign_key_list({table})").fetchall():
            if reference[2] in ("agents", "chats", "calls", "turns") and reference[3] not in firsts:
                missing.append(f"{table}.{reference[3]}")
    assert missing == []
