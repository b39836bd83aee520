"""The result contract: what a call with a result schema must leave, and what happens if not.

[S0] "Structured functions": the agent writes JSON to FUNCTION_RESULT_FILE and the platform checks
it. A missing or wrong result gets one correction turn, then the final answer is taken if it is
JSON that fits, else the call fails and keeps the work. The file is plain JSON (case C60): a code
fence, a byte order mark, UTF-16, a second document, a link or a folder are problems to correct;
only a final *answer* may stand in a fence, since that is how models write.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import re
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Struct, structs

from agentworks.rules import limits, strict_json
from agentworks.runners import files, outcomes
from agentworks.runners.folders import RESULT_NAME, Folders
from agentworks.runners.outcomes import Outcome
from agentworks.runners.runtime import Turn

Perform = Callable[[Turn], Awaitable[Outcome]]
Check = Callable[[bytes], tuple[Any, list[str]]]
_LOG = logging.getLogger(__name__)
_FENCE = re.compile(r"`{3,}|~{3,}")
_PROBLEM_LENGTH_MAX = 500  # characters of one problem
_SCHEMA_LENGTH_MAX = 20_000  # characters of a schema within a correction


class Found(Struct, frozen=True):
    """A candidate result: its value when it fits, its problems otherwise; `raw` is its JSON."""

    raw: bytes
    problems: list[str]
    value: Any = UNSET
    in_file: bool = False  # it is what the result file holds

    @property
    def fits(self) -> bool:
        return not self.problems


async def fulfil(
    perform: Perform, turn: Turn, folders: Folders, check: Check | None, *, corrects: bool = True
) -> Outcome:
    """Perform `turn`, at most once more to correct its result; its one outcome, files named.

    `perform` tells the events of each turn as they come, so a corrected call tells two endings.
    `check` reads JSON and says what it is and all that is wrong with it by the function's result
    schema (`functools.partial(rules.results.result_problems, schema)`); None is no schema.
    `corrects` is the runtime's: whether running the agent once more makes sense.
    """
    outcome = await perform(turn)
    if check is not None:
        outcome = await _checked(perform, turn, folders, check, outcome, corrects)
    elif outcome.result is not UNSET:
        given = await _weighed(msgspec.json.encode(outcome.result), _any_json)
        outcome = structs.replace(outcome, result=UNSET)
        if given.fits:
            outcome = await asyncio.to_thread(_with_result, outcome, folders, given)
    return await asyncio.to_thread(_with_files, outcome, folders)


async def _checked(
    perform: Perform, turn: Turn, folders: Folders, check: Check, first: Outcome, corrects: bool
) -> Outcome:
    if first.state not in ("answered", "timed_out", "late"):
        return first  # it failed; what it wrote on the way is no result
    found = await _judged(folders, check, first)
    if found.fits:
        return await asyncio.to_thread(_completed, first, folders, found)
    last = first
    if first.state == "answered" and corrects:
        prompt = correction(turn, folders, found.problems)
        last = await perform(structs.replace(turn, prompt=prompt, session_ref=first.session_ref))
        last = structs.replace(last, usage=first.usage + last.usage)
        found = await _judged(folders, check, last)
        if found.fits and last.state != "failed":
            return await asyncio.to_thread(_completed, last, folders, found)
    for answer in (last.text, first.text):
        spoken = await _spoken(answer, check)
        if spoken is not None:
            return await asyncio.to_thread(_completed, last, folders, spoken)
    return _unfulfilled(first, last, found.problems)


def _completed(outcome: Outcome, folders: Folders, found: Found) -> Outcome:
    """With its result. What came after the time was up is late, never completed."""
    late = outcome.state in ("timed_out", "late")
    done = structs.replace(outcome, state="late" if late else "completed", reason="", partial="")
    return _with_result(done, folders, found)


def _with_result(outcome: Outcome, folders: Folders, found: Found) -> Outcome:
    """The result inline up to 256 KiB, else as the name of its file ([S0])."""
    if len(found.raw) <= limits.RESULT_INLINE_BYTES_MAX:
        return structs.replace(outcome, result=found.value)
    if not found.in_file and not _kept(folders, RESULT_NAME, found.raw):
        return structs.replace(
            outcome,
            state="failed",
            result=UNSET,
            reason="its result could not be written to a file",
        )
    return structs.replace(outcome, result=UNSET, result_file=RESULT_NAME)


def _unfulfilled(first: Outcome, last: Outcome, problems: list[str]) -> Outcome:
    """Failed, with the work kept: the first answer, which no correction may throw away."""
    if "timed_out" in (first.state, last.state):
        return structs.replace(last, state="timed_out", partial=last.partial or first.text)
    told = last.reason or f"no result that fits: {'; '.join(problems)}"
    return structs.replace(
        last,
        state="failed",
        text="",
        result=UNSET,
        reason=outcomes.shortened(told, limits.PROGRESS_LENGTH_MAX * 2),
        partial=outcomes.shortened(
            first.text or last.text or last.partial, limits.PARTIAL_LENGTH_MAX
        ),
    )


def correction(turn: Turn, folders: Folders, problems: list[str]) -> str:
    """The prompt of the correction turn: every problem, the path, the schema."""
    named = [f"- {outcomes.shortened(each, _PROBLEM_LENGTH_MAX)}" for each in problems]
    if len(named) > limits.RESULT_PROBLEMS_MAX:
        more = len(named) - limits.RESULT_PROBLEMS_MAX
        named = [*named[: limits.RESULT_PROBLEMS_MAX], f"- and {more} more"]
    schema = msgspec.json.encode(turn.result_schema).decode()
    return "\n".join(
        [
            "The result of your work was not accepted:",
            *named,
            "",
            "Do not do the work again. Write the corrected result to this file, as plain JSON "
            "in UTF-8 and nothing else (no code fence, no text around it):",
            str(folders.result_file),
            "",
            "It must fit this JSON Schema:",
            outcomes.shortened(schema, _SCHEMA_LENGTH_MAX),
        ]
    )


async def _judged(folders: Folders, check: Check, outcome: Outcome) -> Found:
    """The result file; or, when that does not do, what the runtime itself gave as a result."""
    try:
        raw = await asyncio.to_thread(_result_file, folders)
        found = structs.replace(await _weighed(raw, check), in_file=True)
    except files.BadName as why:
        found = Found(b"", why.problems)
    if not found.fits and outcome.result is not UNSET:
        given = await _weighed(msgspec.json.encode(outcome.result), check)
        return given if given.fits else Found(b"", [*found.problems, *given.problems])
    return found


def _result_file(folders: Folders) -> bytes:
    try:
        return files.whole(folders.root, _inside(folders), RESULT_NAME, limits.RESULT_BYTES_MAX)
    except files.NoSuchFile:
        there = folders.result_file.is_symlink() or folders.result_file.exists()
        what = "is not a regular file" if there else "was not written"
        raise files.BadName([f"{folders.result_file} {what}"]) from None


async def _weighed(raw: bytes, check: Check) -> Found:
    """Read and check one candidate off the event loop, within a time limit."""
    try:
        async with asyncio.timeout(limits.RESULT_CHECK_SECONDS):
            return await asyncio.to_thread(_weigh, raw, check)
    except TimeoutError:
        return Found(raw, [f"checking it took more than {limits.RESULT_CHECK_SECONDS} seconds"])


def _weigh(raw: bytes, check: Check) -> Found:
    if len(raw) > limits.RESULT_BYTES_MAX:
        return Found(raw, [f"it has more than {limits.RESULT_BYTES_MAX:,} bytes"])
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Found(raw, ["it is UTF-16; write UTF-8"])
    value, problems = check(raw)
    return Found(raw, problems, UNSET if problems else value)


def _any_json(raw: bytes) -> tuple[Any, list[str]]:
    """The check of a result without a schema: it must be JSON that everybody reads alike."""
    try:
        return strict_json.parse(raw), []
    except strict_json.NotStrictJson as why:
        return None, why.problems


async def _spoken(answer: str, check: Check) -> Found | None:
    """A result within the final answer: all of it, or its last fenced block."""
    for candidate in (answer, await asyncio.to_thread(last_fenced, answer)):
        if candidate.strip():
            found = await _weighed(candidate.strip().encode("utf-8", "replace"), check)
            if found.fits:
                return found
    return None


def last_fenced(text: str) -> str:
    """What stands in the last closed ``` or ~~~ block of a text; empty when there is none."""
    fence, block, found = "", [""], ""
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if not fence:
            mark = _FENCE.match(bare)
            fence, block = (mark.group(), []) if mark else ("", [])
        elif bare == fence:
            fence, found = "", "".join(block)
        else:
            block.append(line)
    return found


def _with_files(outcome: Outcome, folders: Folders) -> Outcome:
    """An answer too large to be inline put in a file of its own, and all files named."""
    found = files.listing(folders.root, *_inside(folders))
    raw = outcome.text.encode()
    if len(raw) > limits.RESULT_INLINE_BYTES_MAX:
        taken = {each.file for each in found.files}
        name = next(each for each in _answer_names() if each not in taken)
        short = raw[: limits.RESULT_INLINE_BYTES_MAX].decode("utf-8", "ignore")
        kept = name if _kept(folders, name, raw) else ""
        outcome = structs.replace(outcome, text=short, text_file=kept)
        found = files.listing(folders.root, *_inside(folders))
    return structs.replace(outcome, files=found.files, more_files=found.more)


def _answer_names() -> Iterator[str]:
    yield "answer.txt"
    for number in itertools.count(2):
        yield f"answer-{number}.txt"


def _kept(folders: Folders, name: str, raw: bytes) -> bool:
    """Whether it could be written among the call's files."""
    try:
        files.write_new(folders.root, _inside(folders), name, raw)
    except OSError as why:
        _LOG.warning("cannot write %s for %s: %s", name, folders.turn.name, why)
        return False
    return True


def _inside(folders: Folders) -> tuple[str, ...]:
    return folders.out.relative_to(folders.root).parts
