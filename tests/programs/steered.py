"""A jsonl program whose stdin stays open: asks once, and answers with all it heard."""

from __future__ import annotations

import json
import sys
from typing import Any


def say(**event: Any) -> None:
    print(json.dumps(event), flush=True)


heard = [json.loads(sys.stdin.readline())]
say(type="started", session_ref="session-" + (heard[0]["session_ref"] or "new"))
say(type="need_input", request_id="q1", question="Sure?", schema={"type": "boolean"})
while len(heard) < 3:
    heard.append(json.loads(sys.stdin.readline()))
say(type="final", text="heard", result=heard)
