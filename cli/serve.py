"""`agentworks serve`: the server's command line. The server itself is loaded only here."""

from __future__ import annotations

import gc
from pathlib import Path

import click

from cli.local import NAMES, file_path, folder_option
from cli.render import Exit, Stop
from cli.values import whole_number


def settings(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, int]:
    """Limits by name; the server knows which there are."""
    found: dict[str, int] = {}
    for each in given:
        name, _, number = each.partition("=")
        found[name] = whole_number(number)
    return found


@click.command(context_settings=NAMES)
@folder_option
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8420,
    show_default=True,
    help="The port; 0 takes a free one.",
)
@click.option("--behind-proxy", is_flag=True, help="A proxy in front of it speaks TLS.")
@click.option("--tls-cert", metavar="FILE", callback=file_path, help="The certificate chain, PEM.")
@click.option("--tls-key", metavar="FILE", callback=file_path, help="Its private key, PEM.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="LIMIT=NUMBER",
    callback=settings,
    help="Change one of the limits in docs/limits.md; may be repeated.",
)
@click.option("--allow-root", is_flag=True, help="Run agent programs although this is root.")
def serve(
    folder: Path,
    host: str,
    port: int,
    behind_proxy: bool,
    tls_cert: Path | None,
    tls_key: Path | None,
    settings: dict[str, int],
    allow_root: bool,
) -> int:
    """Run the server."""
    if (tls_cert is None) != (tls_key is None):
        raise click.UsageError("--tls-cert and --tls-key go together")
    from agentworks import server  # late: everything else starts without it

    gc.enable()  # main switched it off, for commands that end soon
    try:
        server.serve(
            folder=folder,
            host=host,
            port=port,
            behind_proxy=behind_proxy,
            tls_cert=tls_cert,
            tls_key=tls_key,
            allow_root=allow_root,
            settings=settings,
        )
    except OSError as fault:
        place = f"{fault.filename}: " if fault.filename else ""
        raise Stop(f"cannot serve: {place}{fault.strerror or fault}", Exit.FAULT) from None
    return Exit.ANSWERED
