"""What every answer tells the browser about how far it may trust it.

`SECURITY_HEADERS` is for pages, refusals and redirects alike, and fits a JSON API as well.
"""

from __future__ import annotations

Header = tuple[bytes, bytes]

#: No script at all, no frame, no foreign address. `form-action` covers redirects after a form too.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)

#: Sent with every answer, also with refusals and redirects.
SECURITY_HEADERS: tuple[Header, ...] = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    # Not `no-referrer`: with it a browser posts our own forms with `Origin: null`.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (
        b"permissions-policy",
        b"camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
)

#: A page shows what its reader may see now: no cache keeps it, no back button brings it back.
NEVER_KEPT: Header = (b"cache-control", b"no-store")

#: A static file's name holds its hash, so its content never changes.
KEPT_FOR_EVER: Header = (b"cache-control", b"public, max-age=31536000, immutable")
