"""The tree of commands: every operation that names one, and the few that are not protocol.

It is built as it is asked for: one command loads neither the others nor what they need.
"""

from __future__ import annotations

import os
from typing import Any

import click

from agentworks import __version__
from agentworks.contracts import PROTOCOL
from agentworks.contracts.operation import Operation
from cli.config import DEFAULT_SERVER, Given, reach_from
from cli.options import args_from, parameters_of
from cli.render import Stop, answer_text, exit_code, one_line, refusal_lines, say, show
from cli.values import words_of

COMPLETE_VARIABLE = "_AGENTWORKS_COMPLETE"
NAMES = {"help_option_names": ["-h", "--help"]}

#: A person's own commands, which no agent is offered, and what --help says of each.
LOCAL = {
    "apply": "Save the agents a folder declares, after showing what changes.",
    "completion": "Print the completion script of a shell.",
    "connection": "Make, list and revoke connections on the server's own machine.",
    "export": "Write an agent's definition and files below a folder.",
    "login": "Sign in: a person approves this program in a browser.",
    "logout": "End the sign-in on the server and forget it here.",
    "serve": "Run the server.",
}


class Tree(click.Group):
    """`agentworks` itself. Its commands are known by name; each is made when it is used."""

    def abouts(self) -> dict[str, str]:
        """What --help says of each group and command, by name."""
        found = dict(LOCAL)
        for name, members in groups().items():
            alone = members.get("")
            found[name] = alone.about if alone else ", ".join(sorted(members))
        return dict(sorted(found.items()))

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.abouts())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in LOCAL:
            return local_command(cmd_name)
        members = groups().get(cmd_name)
        if members is None:
            return None
        return command_for(members[""], cmd_name) if "" in members else Members(cmd_name, members)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.abouts().items()))


def local_command(name: str) -> click.Command:
    """One of the LOCAL commands. They load the network; other commands start without them."""
    from cli.apply import apply
    from cli.export import export
    from cli.local import completion, connection
    from cli.login import login, logout
    from cli.serve import serve

    found = {
        each.name: each for each in (apply, completion, connection, export, login, logout, serve)
    }
    return found[name]


class Members(click.Group):
    """A group of operations, such as `messages`."""

    def __init__(self, name: str, members: dict[str, Operation[Any, Any]]) -> None:
        super().__init__(name, help=", ".join(sorted(members)), context_settings=NAMES)
        self.members = members

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self.members)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = self.members.get(cmd_name)
        return command_for(found, cmd_name) if found else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.members[name].about) for name in sorted(self.members)])


def groups() -> dict[str, dict[str, Operation[Any, Any]]]:
    """Operations by group and command; the name "" is a command without a group."""
    found: dict[str, dict[str, Operation[Any, Any]]] = {}
    for operation in PROTOCOL:
        for words in (operation.cli, operation.cli_watch):
            if words:
                group, _, name = words.partition(" ")
                found.setdefault(group, {})[name] = operation
    return found


def command_for(operation: Operation[Any, Any], name: str) -> click.Command:
    """The command of one operation: read its inputs, call the server, show the answer."""

    watches = operation.cli_watch is not None and operation.cli_watch.endswith(f" {name}")

    def perform(as_json: bool, **values: Any) -> int:
        from cli import remote  # late: --help and completion need no network

        given: Given = click.get_current_context().obj
        args = args_from(operation.request, values)
        if operation.wait_default:
            args.setdefault("wait_seconds", operation.wait_default)
        named = "submission_id" in args
        reach = reach_from(given)
        if watches:
            from cli.watch import watched  # late: one command needs it

            reply = watched(reach, operation, args)
        else:
            reply = remote.call(reach, operation, args)
        if as_json:
            show(reply.body if reply.body.endswith(b"\n") else reply.body + b"\n")
        elif reply.answer["status"] in ("refused", "busy", "fault"):
            refuse(operation, reply.answer, given, named)
        else:
            show(answer_text(reply.answer).encode("utf-8", "backslashreplace") + b"\n")
        return exit_code(reply.answer)

    json_option = click.Option(
        ["--json", "as_json"], is_flag=True, help="Print the answer exactly as the server sent it."
    )
    return click.Command(
        name,
        callback=perform,
        help=operation.about,
        params=[*parameters_of(operation.request, operation.wait_default), json_option],
        context_settings=NAMES,
    )


def refuse(
    operation: Operation[Any, Any], answer: dict[str, Any], given: Given, named: bool
) -> None:
    """Say on stderr why nothing was done and which command would have worked."""
    if answer["status"] == "fault":
        say(f"fault: the server failed; quote {one_line(answer.get('fault_id'))} to its owner")
        return
    args = answer.get("try")
    corrected = ""
    if isinstance(args, dict):
        from cli.corrected import command_line  # late: only a refusal needs it

        if not named:  # the id was ours; a new command makes its own
            args = {name: value for name, value in args.items() if name != "submission_id"}
        corrected = command_line(operation, args, given.words) or one_line(args)
    for line in refusal_lines(answer, corrected):
        say(line)
    if answer.get("code") == "not_signed_in":
        say(f"  {way_in(given)}")


def way_in(given: Given) -> str:
    """What helps a caller whose credential is not accepted."""
    from cli.corrected import quoted

    if os.environ.get("AGENTWORKS_TOKEN"):
        return "the token came from AGENTWORKS_TOKEN"
    return f"sign in with: {' '.join(map(quoted, ('agentworks', *given.words, 'login')))}"


@click.command(
    cls=Tree,
    context_settings=NAMES,
    epilog="Exit codes: 0 answered, 1 fault, 2 usage, 3 refused, 4 not signed in, 5 failed, "
    "interrupted or timed out, 6 busy or rate limited, 7 unreachable, 8 still working.",
)
@click.version_option(__version__, prog_name="agentworks", message="%(prog)s %(version)s")
@click.option("--config", metavar="FILE", default="", help="The private file of one sign-in.")
@click.option(
    "--server",
    metavar="URL",
    default="",
    help=f"The server.  [default: AGENTWORKS_SERVER, the sign-in's server, or {DEFAULT_SERVER}]",
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0.01, max=3600),
    default=15,
    show_default=True,
    help="How long to wait for an answer, besides a wait that was asked for.",
)
@click.pass_context
def tree(ctx: click.Context, config: str, server: str, timeout: float) -> None:
    """Talk to an AgentWorks server: send messages, read them, and manage named agents."""
    ctx.obj = Given(config=config, server=server, timeout=timeout)


def run(argv: list[str]) -> int:
    """Run one command line; `argv` is without the program's name. The exit code is returned."""
    if COMPLETE_VARIABLE in os.environ:
        return complete(os.environ[COMPLETE_VARIABLE])
    try:
        with tree.make_context("agentworks", words_of(argv)) as context:
            return int(tree.invoke(context) or 0)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as wrong:
        wrong.show()
        return wrong.exit_code
    except Stop as stop:
        say(f"agentworks: {stop.message}")
        return stop.code


def complete(instruction: str) -> int:
    """Answer a shell that asks how a command line could go on."""
    from click.shell_completion import shell_complete

    return shell_complete(tree, {}, "agentworks", COMPLETE_VARIABLE, instruction)
