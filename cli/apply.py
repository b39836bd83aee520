"""`agentworks apply`: bring the server's agents up to what a folder declares, diff first."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

import click
import msgspec

from agentworks.contracts import crews
from cli import workspace
from cli.config import Given, Reach, reach_from
from cli.local import NAMES, file_path, json_option
from cli.remote import Reply, call
from cli.render import Exit, Stop, exit_code, one_line, refusal_lines, say, show, visible
from cli.workspace import UPLOAD_BYTES_MAX, Declared, Unreadable

_ONE_LINE_MAX = 60  # characters of a value that is shown beside another
_ANSWER_MAX = 100  # characters read of a person's answer


@click.command(context_settings=NAMES)
@click.argument("folder", metavar="DIR", callback=file_path)
@click.option("--target", metavar="AGENT", help="Change this agent; DIR then declares just one.")
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_obj
def apply(
    given: Given, folder: Path, target: str | None, dry_run: bool, yes: bool, as_json: bool
) -> int:
    """Save the agents a folder declares, after showing what changes.

    DIR holds crews/NAME/crew.toml and code/NAME/code.toml, each with its files beside it; or one
    such file itself.
    """
    declared = declared_in(folder, target, as_json)
    reach = reach_from(given)
    planned = [ask(reach, each, target, dry_run=True) for each in declared]
    refused = [reply for reply in planned if reply.answer["status"] != "applied"]
    changing = [
        each for each, reply in zip(declared, planned, strict=True) if reply.answer.get("changes")
    ]
    if not as_json:
        for each, reply in zip(declared, planned, strict=True):
            tell(each, reply)
    if refused or dry_run or not changing:
        return told(planned, refused, as_json)
    if not yes and not agreed(planned, as_json):
        say("agentworks: nothing was applied")
        return Exit.REFUSED
    return save(reach, changing, target, as_json)


def declared_in(folder: Path, target: str | None, as_json: bool) -> list[Declared]:
    if not folder.is_dir():
        raise Stop(f"{folder} is no folder", Exit.USAGE)
    try:
        declared = workspace.read(folder)
        refuse_large(declared)
    except Unreadable as unreadable:
        refused = {"status": "refused", "code": "invalid_input", "problems": unreadable.problems}
        if as_json:
            show(msgspec.json.encode(refused) + b"\n")
        else:
            for line in refusal_lines(refused, ""):
                say(line)
        raise click.exceptions.Exit(Exit.REFUSED) from None
    if target is not None and len(declared) != 1:
        raise Stop(f"--target needs one definition; {folder} has {len(declared)}", Exit.USAGE)
    return declared


def refuse_large(declared: list[Declared]) -> None:
    """What would not fit into one request. Bytes that are no text take a third more on the way."""
    sizes = {each.where: len(msgspec.json.encode(arguments(each, None, True))) for each in declared}
    problems = [
        f"{where}: takes {size:,} bytes to send; at most {UPLOAD_BYTES_MAX:,} go at once"
        for where, size in sizes.items()
        if size > UPLOAD_BYTES_MAX
    ]
    if problems:
        raise Unreadable(problems)


def arguments(each: Declared, target: str | None, dry_run: bool) -> dict[str, Any]:
    args: dict[str, Any] = {"definition": each.definition, "files": each.files}
    if target is not None:
        args["target"] = target
    return args | {"dry_run": dry_run}


def ask(reach: Reach, each: Declared, target: str | None, *, dry_run: bool) -> Reply:
    return call(reach, crews.APPLY, arguments(each, target, dry_run))


def told(planned: list[Reply], refused: list[Reply], as_json: bool) -> int:
    """The end of a run that saved nothing."""
    if as_json:
        show_bodies(planned)
    elif not refused and not any(reply.answer["changes"] for reply in planned):
        say("nothing to change")
    return max((exit_code(reply.answer) for reply in refused), default=Exit.ANSWERED)


def agreed(planned: list[Reply], as_json: bool) -> bool:
    """Ask the person. Stops where there is none."""
    if sys.stdin is None or not sys.stdin.isatty():
        if as_json:
            show_bodies(planned)
        raise Stop("there is no terminal to ask on; pass --yes, or --dry-run", Exit.USAGE)
    say("Apply these changes? [y/N]")
    return sys.stdin.readline(_ANSWER_MAX).strip().lower() in ("y", "yes")


def save(reach: Reach, changing: list[Declared], target: str | None, as_json: bool) -> int:
    """Apply them one after another; the first that is refused ends it."""
    for count, each in enumerate(changing):
        reply = ask(reach, each, target, dry_run=False)
        if as_json:
            show_bodies([reply])
        elif reply.answer["status"] == "applied":
            made = "made" if reply.answer.get("created") else "saved"
            show(f"{made} {one_line(reply.answer.get('name'))}\n".encode())
        if reply.answer["status"] != "applied":
            if not as_json:
                tell(each, reply)
            say(f"agentworks: {count} of {len(changing)} were applied; run it again for the rest")
            return exit_code(reply.answer)
    return Exit.ANSWERED


def show_bodies(replies: list[Reply]) -> None:
    """Each answer as the server sent it, one a line."""
    for reply in replies:
        show(reply.body.rstrip(b"\n") + b"\n")


# ── for a person ─────────────────────────────────────────────────────────────────────────────


def tell(each: Declared, reply: Reply) -> None:
    """What one definition would change, or everything that is wrong with it."""
    answer = reply.answer
    if answer["status"] != "applied":
        say(f"{each.where}:")
        for line in refusal_lines(answer, ""):
            say(f"  {line}")
        return
    changes = answer.get("changes") or []
    state = "new" if answer.get("created") else f"{len(changes)} changes" if changes else "as it is"
    lines = [f"{each.where}: {one_line(answer.get('name'))}, {state}"]
    for change in changes:
        lines += change_lines(change)
    show("".join(f"{visible(line)}\n" for line in lines).encode("utf-8", "backslashreplace"))


def change_lines(change: dict[str, Any]) -> Iterator[str]:
    """One difference; texts of several lines as a diff."""
    was, becomes, what = change.get("was"), change.get("becomes"), one_line(change.get("what"))
    if was is None or becomes is None:
        sign, value = ("+", becomes) if was is None else ("-", was)
        yield f"  {sign} {what}: {one_line(value)}"
    elif "\n" in was + becomes or len(was + becomes) > 2 * _ONE_LINE_MAX:
        yield f"  ~ {what}"
        lines = unified_diff(was.split("\n"), becomes.split("\n"), n=1, lineterm="")
        yield from (f"      {line}" for line in list(lines)[2:])
    else:
        yield f"  ~ {what}: {one_line(was)} -> {one_line(becomes)}"
