"""A disk of a few megabytes, seen only by the programs started on it; it goes with its process."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).parents[2]
_MOUNT = 'mount -t tmpfs -o "size=$1" small "$0" && echo ready && exec sleep 3600'
_AS_NOBODY = [] if os.geteuid() == 0 else ["--map-root-user"]
_ENTER_AS_NOBODY = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]


class SmallDisk:
    """A tmpfs of `megabytes` at `path`, in a mount namespace of its own (unshare, nsenter).

    `outside` is where this process sees its files; commands are started on it with `inside`.
    """

    def __init__(self, path: Path, megabytes: int) -> None:
        path.mkdir()
        self.path = path
        command = ["unshare", "--mount", *_AS_NOBODY, "sh", "-c", _MOUNT, str(path)]
        self.holder = subprocess.Popen(
            [*command, f"{megabytes}m"], stdout=subprocess.PIPE, text=True
        )
        assert self.holder.stdout is not None
        assert self.holder.stdout.readline() == "ready\n", "no small disk can be mounted here"
        self.outside = Path(f"/proc/{self.holder.pid}/root{path}")
        target = ["nsenter", "--target", str(self.holder.pid), "--mount", *_ENTER_AS_NOBODY]
        self.inside = [*target, f"--wd={ROOT}", "--"]

    def fill(self) -> None:
        """Until not a byte fits."""
        with (self.outside / "filler").open("ab", buffering=0) as filler:
            for size in (65_536, 4_096, 1):
                with contextlib.suppress(OSError):
                    while True:
                        filler.write(b"x" * size)

    def free(self) -> None:
        (self.outside / "filler").unlink()

    def copy(self, folder: str, to: Path) -> Path:
        """A folder of the disk, where it can be read as usual."""
        shutil.copytree(self.outside / folder, to)
        return to

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self.holder.stdout is not None
        self.holder.kill()
        self.holder.wait()
        self.holder.stdout.close()
