"""Ignores SIGTERM but takes it as its cue: writes its result and answer a moment later.

usage: late.py SECONDS file|answer
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType


def finish(number: int, frame: FrameType | None) -> None:
    time.sleep(float(sys.argv[1]))
    if sys.argv[2] == "file":
        Path(os.environ["FUNCTION_RESULT_FILE"]).write_text('{"n": 7}')
        time.sleep(60)
    sys.stdout.write("late answer\n")
    sys.stdout.flush()
    os._exit(0)


signal.signal(signal.SIGTERM, finish)
sys.stdout.write("thinking\n")
sys.stdout.flush()
while True:
    time.sleep(60)
