"""Runs away: forks, leaves its session and exits, over and over, as fast as it can.

usage: hydra.py stay|leave
"""

from __future__ import annotations

import os
import sys
import time

print("away", flush=True)
if os.fork() == 0:
    for fd in (0, 1, 2):
        os.close(fd)
    while True:
        if os.fork():
            os._exit(0)
        os.setsid()
time.sleep(0.2)
if sys.argv[1] == "stay":
    time.sleep(600)
