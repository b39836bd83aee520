"""Commands that are not protocol: connections on the server's own machine, shell completion."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import msgspec

from agentworks.contracts.operation import Scope
from agentworks.contracts.refusal import Refuse
from cli.render import Exit, Stop, answer_text, exit_code, refusal_lines, say, show

NAMES = {"help_option_names": ["-h", "--help"]}

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON value.")


def file_path(ctx: click.Context, param: click.Parameter, given: str | None) -> Path | None:
    """A path with the bytes that were typed: words arrive as UTF-8 text in every locale."""
    return None if given is None else Path(os.fsdecode(given.encode()))


def scopes(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> list[Scope]:
    """Scopes from repeated options, each perhaps several with commas or spaces between them."""
    words = [word for each in given for word in each.replace(",", " ").split()]
    unknown = [word for word in words if word not in [scope.value for scope in Scope]]
    if unknown or (given and not words):
        known = ", ".join(scope.value for scope in Scope)
        raise click.BadParameter(f"{', '.join(unknown) or 'empty'} is not among {known}")
    return list(dict.fromkeys(Scope(word) for word in words)) or [Scope.READ, Scope.RUN]


scope_option = click.option(
    "--scope",
    "scopes",
    multiple=True,
    callback=scopes,
    metavar="read|run|author",
    help="What it may do; may be repeated, or several with commas.  [default: read,run]",
    shell_complete=lambda ctx, param, start: [s.value for s in Scope if s.value.startswith(start)],
)
folder_option = click.option(
    "--data",
    "folder",
    required=True,
    metavar="DIR",
    callback=file_path,
    help="The folder in which the server keeps everything.",
)


@click.group(context_settings=NAMES)
def connection() -> None:
    """Make, list and revoke connections on the server's own machine."""


@connection.command(context_settings=NAMES)
@folder_option
@click.option("--label", required=True, metavar="NAME", help="What a person recognises it by.")
@click.option("--account", metavar="NAME", help="For whom it acts.  [default: the owner]")
@scope_option
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="ID",
    help="An agent it may reach; may be repeated.  [default: all]",
)
@click.option(
    "--expires",
    "expires_days",
    type=click.IntRange(0, 3650),
    default=0,
    metavar="DAYS",
    help="Ends after this many days; 0 is never.",
)
@json_option
def create(
    folder: Path,
    label: str,
    account: str | None,
    scopes: list[Scope],
    targets: tuple[str, ...],
    expires_days: int,
    as_json: bool,
) -> int:
    """Make a connection and print its token, which is shown only now."""
    from agentworks import offline  # late: it opens the store, which no other command needs

    return local(
        folder,
        as_json,
        lambda: offline.create_connection(
            folder, label, account, scopes, list(targets), expires_days
        ),
    )


@connection.command("list", context_settings=NAMES)
@folder_option
@click.option("--account", metavar="NAME", help="Whose.  [default: everybody's]")
@json_option
def list_connections(folder: Path, account: str | None, as_json: bool) -> int:
    """List connections; tokens are not kept and cannot be shown."""
    from agentworks import offline

    return local(folder, as_json, lambda: offline.list_connections(folder, account))


@connection.command(context_settings=NAMES)
@folder_option
@click.argument("connection_id", metavar="ID")
@json_option
def revoke(folder: Path, connection_id: str, as_json: bool) -> int:
    """End a connection at once; its tokens stop working."""
    from agentworks import offline

    return local(folder, as_json, lambda: offline.revoke_connection(folder, connection_id))


def local(folder: Path, as_json: bool, act: Callable[[], dict[str, Any]]) -> int:
    """Do something on this machine and show its outcome as a server's answer is shown."""
    try:
        answer = act()
    except Refuse as refusal:
        answer = msgspec.to_builtins(refusal.refused)
    except Exception as cannot:  # the store's own words: held, full, written by a newer version
        reason = getattr(cannot, "strerror", None) or str(cannot) or type(cannot).__doc__
        raise Stop(f"cannot work on {folder}: {reason}", Exit.FAULT) from None
    if as_json:
        show(msgspec.json.encode(answer) + b"\n")
    elif answer.get("status") == "refused":
        for line in refusal_lines(answer, ""):
            say(line)
    else:
        show(answer_text(answer).strip("\n").encode() + b"\n")
    return exit_code(answer)


@click.command(context_settings=NAMES)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print the completion script of a shell.

    bash: eval "$(agentworks completion bash)" in ~/.bashrc; zsh the same in ~/.zshrc;
    fish: agentworks completion fish | source in ~/.config/fish/config.fish.
    """
    from click.shell_completion import BashComplete, FishComplete, ZshComplete

    from cli.commands import COMPLETE_VARIABLE, tree

    kind = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}[shell]
    made = kind(tree, {}, "agentworks", COMPLETE_VARIABLE)
    show((made.source_template % made.source_vars()).encode() + b"\n")
    return Exit.ANSWERED
