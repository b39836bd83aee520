"""The private file that keeps one agent's sign-in, and where a command goes with it."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import SplitResult, urlsplit

import msgspec
from msgspec import Struct

from cli.render import Exit, Stop, say

DEFAULT_SERVER = "http://127.0.0.1:8420"
CONFIG_BYTES_MAX = 65_536
LOCK_SECONDS_MAX = 60
RENEW_SECONDS_BEFORE = 60  # a token must outlive a wait of 25 seconds


class PendingLogin(Struct, frozen=True, kw_only=True):
    """A device code that nobody has approved yet (`login --no-wait`). Times in epoch seconds."""

    server: str
    label: str
    scope: str
    device_code: str
    user_code: str
    verification_uri: str
    interval: int
    expires_at: int


class SignIn(Struct, frozen=True, kw_only=True):
    """What the file holds. `expires_at` is when the access token ends, in epoch seconds."""

    server: str = ""
    connection_id: str = ""
    access_token: str = ""
    refresh_token: str = ""
    expires_at: int = 0
    pending_login: PendingLogin | None = None

    @property
    def about_to_end(self) -> bool:
        """True when the access token ends too soon to start a call with it."""
        return bool(self.refresh_token) and self.expires_at < now() + RENEW_SECONDS_BEFORE


class Given(Struct, kw_only=True):
    """The global options as they were given; empty where they were not."""

    config: str = ""
    server: str = ""
    timeout: float = 15

    @property
    def words(self) -> list[str]:
        """The options again, for a command that is to be typed in the same place."""
        named = (("--config", self.config), ("--server", self.server))
        return [word for name, value in named if value for word in (name, value)]


class Reach(Struct, kw_only=True):
    """Where a command goes and with which credential. `kept` may be renewed under way."""

    server: str
    path: str
    kept: SignIn
    timeout: float
    token: str = ""  # AGENTWORKS_TOKEN: used as it is, never renewed

    @property
    def own(self) -> bool:
        """True when the file's tokens belong to this server; no other server may see them."""
        return bool(self.kept.access_token) and same_server(
            self.kept.server or DEFAULT_SERVER, self.server
        )


def reach_from(given: Given) -> Reach:
    """Read options, environment and file, in this order of strength."""
    path = config_path(given)
    token = os.environ.get("AGENTWORKS_TOKEN", "")
    if not sendable(token):
        raise Stop("AGENTWORKS_TOKEN holds characters that no token has", Exit.USAGE)
    server = given.server or os.environ.get("AGENTWORKS_SERVER", "")
    kept = SignIn() if token and server else read(path, warn=True)
    server = server or kept.server or DEFAULT_SERVER
    parts_of(server)
    return Reach(
        server=server.rstrip("/"), path=path, kept=kept, timeout=given.timeout, token=token
    )


def sendable(token: str) -> bool:
    """True when a token can stand in a header: visible ASCII and nothing else."""
    return all("!" <= character <= "~" for character in token)


def parts_of(server: str) -> SplitResult:
    """A server's address in parts. Stops when it is no http(s) address."""
    try:
        parts = urlsplit(server)
        sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        sound = False
    if not sound or not server.isprintable() or any(each in server for each in "@?# "):
        raise Stop(f"{server!r} is no server address such as {DEFAULT_SERVER}", Exit.USAGE)
    return parts


def same_server(one: str, other: str) -> bool:
    """True when two addresses mean the same scheme, host, port and path."""
    return address(one) == address(other)


def address(server: str) -> tuple[str, str, int, str]:
    parts = parts_of(server)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return parts.scheme, parts.hostname or "", port, parts.path.rstrip("/")


def config_path(given: Given) -> str:
    """`--config`, or agentworks/config.json in the person's configuration folder (XDG)."""
    if given.config:
        # The option arrived as UTF-8 text; the file's name is the same bytes in any locale.
        return os.path.abspath(os.fsdecode(given.config.encode()))
    home = os.environ.get("XDG_CONFIG_HOME", "")
    base = home if os.path.isabs(home) else os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "agentworks", "config.json")


def now() -> int:
    """The present second. The command line's only reading of the clock."""
    return int(time.time())


def read(path: str, *, warn: bool = False) -> SignIn:
    """The sign-in kept in a file; an empty one when there is no file. Never touches the file."""
    try:
        kept = msgspec.convert(_values(path, warn=warn), SignIn)
    except msgspec.ValidationError as wrong:
        raise Stop(f"{path}: {wrong}; mend the file or remove it", Exit.USAGE) from None
    if not sendable(kept.access_token):
        raise Stop(f"{path}: holds no possible token; sign in again", Exit.USAGE)
    return kept


def _values(path: str, *, warn: bool = False) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            raw = file.read(CONFIG_BYTES_MAX + 1)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or fault
        raise Stop(f"{path}: cannot be read: {reason}", Exit.USAGE) from None
    if warn and mode & 0o077:
        say(f"agentworks: {path} holds tokens and others may read it; run: chmod 600 {path}")
    try:
        values = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        values = None
    if not isinstance(values, dict) or len(raw) > CONFIG_BYTES_MAX:
        raise Stop(f"{path}: is no JSON object; mend the file or remove it", Exit.USAGE)
    return values


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Hold the lock beside a config file, so that two programs never renew or write at once."""
    lock = _open_lock(path)
    try:
        _wait_for(lock, path)
        yield
    finally:
        os.close(lock)


def _open_lock(path: str) -> int:
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as fault:
        raise Stop(f"{path}.lock: cannot be written: {fault.strerror}", Exit.USAGE) from None


def _wait_for(lock: int, path: str) -> None:
    for _ in range(LOCK_SECONDS_MAX * 20):
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.05)
    raise Stop(f"another program has held {path}.lock for {LOCK_SECONDS_MAX} s", Exit.BUSY)


def save(path: str, **changed: Any) -> SignIn:
    """Change some values of the file, whole or not at all; None removes one. Hold `locked`.

    Names this version does not know stay. A link is followed, so that it stays a link.
    """
    values = _values(path)
    values.update(msgspec.to_builtins(changed))
    values = {name: value for name, value in values.items() if value is not None}
    real = os.path.realpath(path)
    fresh = f"{real}.{os.urandom(8).hex()}"
    try:
        _write(fresh, msgspec.json.format(msgspec.json.encode(values), indent=2) + b"\n")
        os.replace(fresh, real)
        _settle(os.path.dirname(real))
    except OSError as fault:
        raise Stop(f"{path}: cannot be written: {fault.strerror}", Exit.FAULT) from None
    finally:
        with suppress(OSError):
            os.unlink(fresh)
    return msgspec.convert(values, SignIn)


def _write(path: str, raw: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(raw)
        file.flush()
        os.fsync(file.fileno())


def _settle(folder: str) -> None:
    """Make the new name in the folder survive a power cut."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
