"""The command line: the help text of every command, as the command itself prints it."""

from __future__ import annotations

from collections.abc import Iterator

import click

from cli.commands import tree
from docs.printed.markdown import block, paragraphs

COLUMNS = 88


def helps() -> str:
    """The help of every command, each under its name."""
    return paragraphs(
        *(f"### {name}\n\n{block(text)}" for name, text in walked(tree, "agentworks", None))
    )


def walked(
    command: click.Command, name: str, parent: click.Context | None
) -> Iterator[tuple[str, str]]:
    """Each command's full name and help, groups before their members."""
    word = name.rpartition(" ")[2]
    context = click.Context(
        command,
        parent=parent,
        info_name=word,
        terminal_width=COLUMNS,
        max_content_width=COLUMNS,
        **command.context_settings,
    )
    yield name, command.get_help(context).rstrip()
    if isinstance(command, click.Group):
        for member in command.list_commands(context):
            found = command.get_command(context, member)
            assert found is not None, f"{name} lists {member} and has no such command"
            yield from walked(found, f"{name} {member}", context)
