"""Prints what breaks line readers (case C54): long lines, bad and split characters, CRLF, colours.

usage: odd_bytes.py cut|long|toolong|wrong|all
"""

from __future__ import annotations

import json
import os
import sys
import time


def say(raw: bytes) -> None:
    left = memoryview(raw)
    while left:
        left = left[os.write(1, left) :]


def progress(text: str, end: bytes = b"\n") -> bytes:
    return json.dumps({"type": "progress", "text": text}, ensure_ascii=False).encode() + end


what = sys.argv[1]
if what == "cut":
    say(progress("half"))
    say(b'{"type": "text", "text": "the work"}\n{"type": "final", "text": "never clo')
elif what == "toolong":
    say(b'{"type": "final", "text": "' + b"y" * 5_000_000 + b'"}\n')
elif what == "long":
    say(json.dumps({"type": "text", "text": "y" * 70_000}).encode() + b"\n")
    say(json.dumps({"type": "final", "text": "z" * 5_000_000}).encode())  # no newline
elif what == "wrong":
    say(
        b'{"type": "usage", "input_tokens": -1}\n{"type": "final"\n[]\n"x"\n' + b"[" * 5_000 + b"\n"
    )
    say(b'{"type": "dance"}\n{"type": "progress"}\n\n')
    say(b'{"type": "final", "text": "a\\u0000b", "extra": 1}\n')
else:
    say(progress("crlf", b"\r\n"))
    say(b'{"type": "progress", "text": "bad \x97 byte"}\n')
    whole = progress("caf\u00e9")
    at = whole.index(b"\xc3") + 1
    say(whole[:at])
    time.sleep(0.1)
    say(whole[at:])
    say(b"\x1b[32m" + progress("green", b"\x1b[0m\n"))
    say(b"npm warn: this is no event\n")
    say(progress("last, without newline", b""))
    say(b"\n" + json.dumps({"type": "final", "text": "ok"}).encode())
