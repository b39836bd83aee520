"""The server's own key, a private file beside the store.

With it the successor of a spent token is derived instead of remembered (identity/tokens.py): a
repeated request gets the same answer although only hashes are stored.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

FILE = "secret.key"
KEY_BYTES = 32


class KeyDamaged(OSError):
    """The key file is not a key; tokens could be neither derived nor recognised."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} is not a key of {KEY_BYTES} bytes; restore it from a backup, or remove it: "
            "then programs that are renewing their sign-in just now must sign in again"
        )


def load(folder: Path) -> bytes:
    """The key of this folder, made at first start. Raises OSError, KeyDamaged among them.

    Only the server that has locked the folder calls this, so no two make one at once.
    """
    path = folder / FILE
    if not path.exists():
        _make(path)
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise KeyDamaged(path)
    return key


def _make(path: Path) -> None:
    """Whole or not at all: it gets its name once it is written."""
    draft = path.with_name(f".{FILE}.{os.getpid()}")
    opened = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(opened, "wb") as file:
        file.write(secrets.token_bytes(KEY_BYTES))
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
