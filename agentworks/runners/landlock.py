"""Landlock in plain ctypes: what a program may read, write and connect to, enforced by the kernel.

The fallback where bubblewrap is missing (facts: relay_functions.md §2.1). Needs no package, no
privilege and no helper program; the rules are inherited by everything the program starts.
Standard library only: it is loaded by the keeper, which knows nothing else of ours.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import struct
from collections.abc import Iterable

_LIBC = ctypes.CDLL(None, use_errno=True)
_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same numbers on every architecture
_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 24, 38
_CAPABILITIES = range(64)  # more than there are

_EXECUTE, _WRITE, _READ, _READ_FOLDER = 1, 2, 4, 8
_REFER, _TRUNCATE, _DEVICE_CONTROL = 1 << 13, 1 << 14, 1 << 15
_EVERYTHING_AT_FIRST = (1 << 13) - 1  # what version 1 knows
_TCP = 3  # bind and connect
_SCOPES = 3  # signals and abstract sockets end at the sandbox's edge


def version() -> int:
    """The kernel's Landlock version; 0 when there is none."""
    try:
        found: int = _LIBC.syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(1))
    except OSError:
        return 0
    return max(found, 0)


def restrict(read: Iterable[str], write: Iterable[str], *, tcp: bool) -> None:
    """Confine this process, for good, to reading `read` and changing `write`.

    Paths that do not exist are left out. Without `tcp` no TCP connection can be made or
    accepted from version 4 on; UDP stays open. Raises OSError when the kernel refuses.
    """
    known = version()
    if known < 1:
        raise OSError("this kernel has no Landlock")
    files = _file_rights(known)
    net = _TCP if known >= 4 and not tcp else 0
    scoped = _SCOPES if known >= 6 else 0
    size = 8 if known < 4 else 16 if known < 6 else 24
    rules = _checked(
        _LIBC.syscall(
            _CREATE, struct.pack("QQQ", files, net, scoped), ctypes.c_size_t(size), ctypes.c_uint(0)
        )
    )
    for path in read:
        _allow(rules, path, files & (_EXECUTE | _READ | _READ_FOLDER))
    for path in write:
        _allow(rules, path, files)
    prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _checked(_LIBC.syscall(_RESTRICT, rules, ctypes.c_uint(0)))
    os.close(rules)
    if os.geteuid() == 0:
        _give_up_privileges()


def _give_up_privileges() -> None:
    """Root keeps its name and loses its powers: with CAP_PERFMON every environ could be read.

    (Measured on Linux 6.18: Landlock refuses /proc/PID/mem, but not /proc/PID/environ to root.)
    """
    for capability in _CAPABILITIES:
        with contextlib.suppress(OSError):  # this kernel has fewer
            prctl(_PR_CAPBSET_DROP, capability)
    header = struct.pack("=Ii", 0x20080522, 0)  # version 3 of the call, this thread
    _checked(_LIBC.capset(header, bytes(24)))


def prctl(option: int, value: int) -> None:
    """prctl(2) with one argument. Raises OSError when the kernel refuses."""
    unsigned = ctypes.c_ulong
    _checked(_LIBC.prctl(option, unsigned(value), unsigned(0), unsigned(0), unsigned(0)))


def _file_rights(known: int) -> int:
    rights = _EVERYTHING_AT_FIRST
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _DEVICE_CONTROL)):
        if known >= since:
            rights |= right
    return rights


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(opened).st_mode):
            rights &= _EXECUTE | _WRITE | _READ | _TRUNCATE | _DEVICE_CONTROL
        below = struct.pack("=Qi", rights, opened)
        _checked(_LIBC.syscall(_ADD, rules, ctypes.c_int(1), below, ctypes.c_uint(0)))
    finally:
        os.close(opened)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
