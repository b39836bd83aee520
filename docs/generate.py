"""Write the printed passages of the documentation, or say which of them are out of date.

    python -m docs.generate            writes them
    python -m docs.generate --check    writes nothing; exits with 1 and names what is stale

A passage stands between `<!-- printed: name -->` and `<!-- end -->` inside a page written by
hand. The pages of docs/reference are printed whole.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

from agentworks.contracts import PROTOCOL
from docs.printed import callers, commands, limits, operations, refusals, states

DOCS = Path(__file__).parent
REFERENCE = DOCS / "reference"
PASSAGE = re.compile(r"(<!-- printed: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
WHOLE = "<!-- Printed by `make docs` from the declaration of the operation. Do not edit. -->"

#: Every passage by its name in the pages.
PRINTED: dict[str, Callable[[], str]] = {
    "commands": commands.helps,
    "limits": limits.tables,
    "operations": operations.index,
    "refusals": refusals.given,
    "refusals-of-no-operation": refusals.unused,
    "states": states.machines,
    "who-may-call": callers.who_may_call,
}


def pages() -> dict[Path, str]:
    """What every page with something printed should hold."""
    found = {REFERENCE / f"{each.name}.md": whole(operations.page(each)) for each in PROTOCOL}
    for path in sorted(DOCS.rglob("*.md")):
        text = path.read_text("utf-8")
        if path not in found and PASSAGE.search(text):
            found[path] = PASSAGE.sub(filled, text)
    return found


def whole(page: str) -> str:
    return f"{WHOLE}\n\n{page}\n"


def filled(passage: re.Match[str]) -> str:
    begin, name, end = passage.groups()
    return f"{begin}\n{PRINTED[name]()}\n\n{end}"


def left_over() -> list[Path]:
    """Reference pages of operations that are no more."""
    known = {f"{each.name}.md" for each in PROTOCOL}
    return [
        path
        for path in sorted(REFERENCE.glob("*.md"))
        if path.name not in known and path.read_text("utf-8").startswith(WHOLE)
    ]


def stale() -> list[Path]:
    """The pages that differ from what the code says, or should not be there."""
    wanted = pages()
    differing = [path for path, text in wanted.items() if now_in(path) != text]
    return [*differing, *left_over()]


def now_in(path: Path) -> str:
    return path.read_text("utf-8") if path.exists() else ""


def unused() -> list[str]:
    """Passages that no page shows."""
    shown = {
        name
        for path in DOCS.rglob("*.md")
        for _, name, _ in PASSAGE.findall(path.read_text("utf-8"))
    }
    return [name for name in PRINTED if name not in shown]


def write() -> list[Path]:
    """Bring every page up to date; the paths that changed are returned."""
    changed = stale()
    wanted = pages()
    for path in changed:
        if path in wanted:
            path.write_text(wanted[path], "utf-8")
        else:
            path.unlink()
    return changed


def main(words: list[str]) -> str:
    """Run the command; what is wrong is returned, or "" when nothing is."""
    if words not in ([], ["--check"]):
        return __doc__ or ""
    if missing := unused():
        return f"no page shows: {', '.join(missing)}"
    if not words:
        for path in write():
            print(path.relative_to(DOCS.parent))
        return ""
    found = [str(path.relative_to(DOCS.parent)) for path in stale()]
    return "\n".join(["stale; run `make docs`:", *found]) if found else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) or 0)
