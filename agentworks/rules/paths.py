"""Paths of an agent's files: plain names below its folder, the same wherever they are unpacked."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

from agentworks.rules import limits
from agentworks.rules.conversion import got
from agentworks.rules.strict_json import text_problem

DEFINITIONS = ("crew.toml", "code.toml")  # the definition itself, not one of its files
PRODUCED = "outputs"  # what the agent produces, and nobody else
OWN = "memory"  # what the agent remembers: no definition brings or removes it


def path_problems(path: str, at: str = "path") -> list[str]:
    """What keeps `path` from naming a file below an agent's folder; empty when nothing does."""
    flaw = text_problem(path)
    if flaw is not None:
        return [f"{at} {flaw}"]
    if len(path) > limits.PATH_LENGTH_MAX:
        return [
            f"{at} has {len(path):,} characters; at most {limits.PATH_LENGTH_MAX:,} are allowed"
        ]
    return list(_part_problems(path, at))


def _part_problems(path: str, at: str) -> Iterator[str]:
    shown = f"(got {got(path)})"
    parts = path.split("/")
    if not all(parts):
        yield f"{at} must be a path below the agent's folder, such as knowledge/style.md {shown}"
    if any(part.startswith(".") for part in parts):
        yield f"{at} must not have a part that begins with a dot {shown}"
    if any(unicodedata.category(each) == "Cc" for each in path):
        yield f"{at} must not hold control characters {shown}"
    if any(len(part.encode()) > limits.PATH_PART_BYTES_MAX for part in parts):
        yield f"{at} has a part of more than {limits.PATH_PART_BYTES_MAX} bytes {shown}"
    if len(parts) > limits.FILE_DEPTH_MAX:
        yield f"{at} lies deeper than {limits.FILE_DEPTH_MAX} folders {shown}"


def authored_problems(path: str, at: str = "path") -> list[str]:
    """As `path_problems`, for a file that a definition brings."""
    problems = path_problems(path, at)
    if path in DEFINITIONS:
        problems.append(f"{at} {path} is the definition itself, not one of its files")
    top = path.split("/")[0]
    if top == PRODUCED:
        problems.append(f"{at} {got(path)}: only the agent itself writes into {PRODUCED}/")
    if top == OWN:
        problems.append(f"{at} {got(path)}: {OWN}/ is the agent's own, no definition brings it")
    return problems


def is_own(path: str) -> bool:
    """True for what the agent remembers: it lies in its folder alone, in no definition."""
    return path.split("/")[0] == OWN


def clashes(paths: Iterable[str]) -> list[str]:
    """What is there twice, or would have to be a file and a folder at once."""
    problems, seen = [], set[str]()
    every = list(paths)
    for path in every:
        if path in seen:
            problems.append(f"files: {path} is there twice")
        seen.add(path)
    for path in sorted(seen):
        parts = path.split("/")
        above = ["/".join(parts[:count]) for count in range(1, len(parts))]
        problems += [f"files: {each} is a file and a folder" for each in above if each in seen]
    return problems
