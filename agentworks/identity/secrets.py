"""Secrets: random, shown once, and remembered only as their hash."""

from __future__ import annotations

import base64
import hashlib
import secrets

_BYTES = 32  # 256 random bits (contract §2)


def fresh(prefix: str) -> str:
    """A new secret such as `aw_…`; the prefix lets scanners recognise a leaked one."""
    return f"{prefix}_{base64.urlsafe_b64encode(secrets.token_bytes(_BYTES)).decode().rstrip('=')}"


def hashed(secret: str) -> bytes:
    """What is stored. A 256-bit random secret needs no salt and no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
