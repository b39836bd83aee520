"""What a program may see and touch: bubblewrap, else Landlock, else nothing — and which it is.

For semi-trusted code of the account's own people, not for hostile strangers: the kernel is shared
(facts: relay_functions.md §2). A program's environment reaches bubblewrap through its own
environment: `--clearenv` would leave the server's in /proc/1/environ inside, `--setenv` would show
secrets in /proc/*/cmdline (measured, §2.2).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from msgspec import Struct, structs

from agentworks.rules import limits
from agentworks.runners import landlock
from agentworks.runners.processes import Order

Name = Literal["bubblewrap", "landlock", "none"]
Wanted = Literal["auto", "bubblewrap", "landlock", "none"]

_READ = ("/usr", "/opt", "/nix/store", "/bin", "/sbin", "/lib", "/lib64")
_READ_ETC = (
    *("alternatives", "ca-certificates", "gai.conf", "group", "host.conf", "hosts", "ld.so.cache"),
    *("localtime", "nsswitch.conf", "passwd", "pki", "protocols", "resolv.conf", "services", "ssl"),
    *("mime.types", "gitconfig", "crypto-policies"),
)
_DEVICES_READ = ("/dev/urandom", "/dev/random", "/dev/zero")
_DEVICES_WRITE = ("/dev/null", "/dev/full")
_LOOSE_LINKS = ("/bin", "/sbin", "/lib", "/lib64")  # links into /usr on a merged system
_TRIAL_SECONDS = 10


class Level(Struct, frozen=True, kw_only=True):
    """What this machine can enforce, and why it is not more. `agentworks doctor` prints it."""

    name: Name
    why: str
    warnings: tuple[str, ...] = ()

    @property
    def isolates(self) -> tuple[str, ...]:
        """What programs are kept apart from."""
        found = {"bubblewrap": ("files", "network", "processes"), "landlock": ("files",)}
        return found.get(self.name, ())


class Profile(Struct, frozen=True, kw_only=True):
    """What a kind of program is allowed, whatever enforces it."""

    name: str
    network: bool
    must_be_confined: bool
    rlimits: Mapping[str, int]


AGENT = Profile(
    name="agent", network=True, must_be_confined=False, rlimits=limits.AGENT_PROGRAM_RLIMITS
)
RELAY = Profile(
    name="relay", network=False, must_be_confined=True, rlimits=limits.RELAY_PROGRAM_RLIMITS
)


class Unconfined(Exception):
    """Programs may not start here as asked. `problems` say why and what to do."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(*problems)
        self.problems = problems


class Confinement(Struct, frozen=True, kw_only=True):
    """Where one turn's programs are kept. Later fields win over earlier ones, path by path.

    `veil` is the server's own folder: nothing of it is seen but what the later fields show.
    `hide` is emptied again (other calls' folders inside the agent's); Landlock cannot do that.
    """

    level: Name
    profile: Profile
    veil: Path | None = None
    read: tuple[Path, ...] = ()
    write: tuple[Path, ...] = ()
    hide: tuple[Path, ...] = ()
    own: tuple[Path, ...] = ()  # the turn's folders: writable, also below what is hidden


@cache
def probe() -> Level:
    """Try what this machine can do, once. Takes milliseconds; never raises."""
    missing = _bubblewrap_problem()
    if missing is None:
        return Level(name="bubblewrap", why=f"{_bubblewrap()} works")
    known = landlock.version()
    if known:
        return Level(
            name="landlock",
            why=f"{missing}; Landlock version {known} is used",
            warnings=("Landlock does not hide other processes, nor stop UDP: install bubblewrap",),
        )
    return Level(
        name="none",
        why=f"{missing}; this kernel has no Landlock",
        warnings=(
            "NO SANDBOX: agent programs can read and change all that this server's user can, "
            "its data included. Install bubblewrap.",
        ),
    )


def decide(
    wanted: Wanted, profile: Profile, found: Level, *, uid: int, allow_root: bool
) -> tuple[Name, list[str]]:
    """The level to use and what to warn of. Raises Unconfined with every problem (contract §6).

    `auto` takes the best there is; a Crew's programs run even without any, with a loud warning,
    a relay's do not. "none" is taken at the operator's word. Root needs `allow_root`.
    """
    problems = []
    warnings = list(found.warnings) if wanted == "auto" else []
    level = found.name if wanted == "auto" else wanted
    if wanted == "bubblewrap" and found.name != "bubblewrap":
        problems.append(f"bubblewrap was asked for and cannot be used: {found.why}")
    if wanted == "landlock" and not landlock.version():
        problems.append("Landlock was asked for and this kernel has none")
    if wanted == "auto" and level == "none" and profile.must_be_confined:
        problems.append(
            f"a {profile.name} needs a sandbox ({found.why}): install bubblewrap, "
            'or set sandbox = "none"'
        )
    if wanted == "none":
        warnings.append("NO SANDBOX, as configured: programs can do all that this server can.")
    if uid == 0 and not allow_root:
        problems.append(
            "agent programs do not run as root: run the server as an ordinary user, "
            "or start it with --allow-root"
        )
    elif uid == 0:
        warnings.append("the server runs as root: process limits are not enforced")
    if problems:
        raise Unconfined(problems)
    return level, warnings


def order(
    confinement: Confinement,
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: Path,
    read: Sequence[Path] = (),
) -> Order:
    """One program, confined and ready to start. `read` adds to what it may see."""
    rlimits = dict(confinement.profile.rlimits)
    plain = Order(argv=list(argv), env=dict(env), cwd=str(cwd), limits=rlimits)
    if confinement.level == "none":
        return plain
    if confinement.level == "landlock":
        return structs.replace(plain, landlock=_landlocked(confinement, read))
    wrapped = [*_bubblewrapped(confinement, read), "--chdir", str(cwd), "--", *argv]
    return structs.replace(plain, argv=wrapped, cwd="/", sandboxed=True)


def _landlocked(confinement: Confinement, read: Sequence[Path]) -> dict[str, object]:
    system = [
        seen
        for path in (*_system(), "/proc", *_DEVICES_READ, *map(str, _interpreter()))
        for seen in _without(path, confinement.veil)
    ]
    return {
        "read": [*system, *map(str, (*confinement.read, *read))],
        "write": [*_DEVICES_WRITE, *map(str, (*confinement.write, *confinement.own))],
        "tcp": confinement.profile.network,
    }


def _without(path: str, veil: Path | None) -> list[str]:
    """`path`, or all that is in it but `veil`: Landlock can only allow."""
    if veil is None or not veil.is_relative_to(path):
        return [path]
    if veil == Path(path):
        return []
    return [seen for name in sorted(os.listdir(path)) for seen in _without(f"{path}/{name}", veil)]


def _bubblewrapped(confinement: Confinement, read: Sequence[Path]) -> list[str]:
    words = [_bubblewrap(), *_namespaces()]
    if not confinement.profile.network:
        words.append("--unshare-net")
    for path in _system():
        if path in _LOOSE_LINKS and os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        else:
            words += ["--ro-bind-try", path, path]
    words += ["--proc", "/proc", "--dev", "/dev", *_emptied("/tmp")]
    words += _bound("--ro-bind-try", _interpreter())
    if confinement.veil is not None:
        words += _emptied(str(confinement.veil))
    words += _bound("--ro-bind-try", (*confinement.read, *read))
    words += _bound("--bind", confinement.write)
    for hidden in confinement.hide:
        words += _emptied(str(hidden))
    return words + _bound("--bind", confinement.own)


def _bound(how: str, paths: Sequence[Path]) -> list[str]:
    return [word for path in paths for word in (how, str(path), str(path))]


def _emptied(path: str) -> list[str]:
    size = ["--size", str(limits.PROGRAM_TMP_BYTES_MAX)] if _knows("--size") else []
    return [*size, "--tmpfs", path]


def _namespaces() -> list[str]:
    """Own user, process, IPC and host-name spaces; nothing to gain by nesting them."""
    words = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
    words += ["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    if _knows("--disable-userns"):
        words.append("--disable-userns")
    return [*words, "--hostname", "agentworks"]


@cache
def _knows(word: str) -> bool:
    """Whether this bubblewrap has an option; an older one would refuse the whole call."""
    told = subprocess.run(
        [_bubblewrap(), "--help"], capture_output=True, timeout=_TRIAL_SECONDS, env={}, check=False
    )
    return word.encode() in told.stdout + told.stderr


@cache
def _bubblewrap() -> str:
    return shutil.which("bwrap", path="/usr/local/bin:/usr/bin:/bin") or ""


def _bubblewrap_problem() -> str | None:
    """Why bubblewrap cannot be used; None when a trial succeeded."""
    if not _bubblewrap():
        return "bubblewrap is not installed"
    try:
        trial = Confinement(level="bubblewrap", profile=RELAY)
        ran = subprocess.run(
            [*_bubblewrapped(trial, ()), "--", "/usr/bin/true"],
            capture_output=True,
            timeout=_TRIAL_SECONDS,
            env={},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as why:
        return f"bubblewrap does not run ({why})"
    if ran.returncode:
        said = ran.stderr.decode("utf-8", "replace").strip()[-300:]
        return f"bubblewrap is installed but refused ({said or ran.returncode})"
    return None


def _system() -> list[str]:
    return [*_READ, *(f"/etc/{name}" for name in _READ_ETC)]


@cache
def _interpreter() -> tuple[Path, ...]:
    """This server's Python, for `python` agents: its environment and what that is made of."""
    found = (Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent.parent)
    return tuple(path for path in dict.fromkeys(found) if not path.is_relative_to("/usr"))
