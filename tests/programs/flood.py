"""Writes so many MiB to stdout or stderr, then says something short on the other one.

usage: flood.py out|err MEBIBYTES
"""

from __future__ import annotations

import os
import sys

where, other = (1, 2) if sys.argv[1] == "out" else (2, 1)
block = b"x" * (1 << 20)
for _ in range(int(sys.argv[2])):
    left = memoryview(block)
    while left:
        left = left[os.write(where, left) :]
os.write(other, b"done\n")
