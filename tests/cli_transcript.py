"""A real server behind a real command line, and sessions told as a person would see them."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from tests.cli_world import PATIENCE_SECONDS, Done, Hand

ID = re.compile(r"\b(acc|conn|fault|inbox|msg|reg)_[0-9a-z]{20,}\b")
SHORT_ID = re.compile(r"\b(?:acc|conn|fault|inbox|msg|reg)_[0-9]+\b")
TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
COMMAND = re.compile(r"^(\w+)\$ (.*)$")


class Served:
    """A running `agentworks serve`: where it listens, where it keeps things, and its first link."""

    def __init__(self, folder: Path, *options: str) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder / "store"
        self.hand = Hand(folder)
        self.process = self.hand.start(
            "serve", "--data", str(self.folder), "--port", "0", "--allow-root", *options
        )
        self.said: list[str] = []
        self._listener = Thread(target=self._listen)
        self._listener.start()
        assert self.process.stdout is not None
        line = self.process.stdout.readline().decode()
        if not line:
            self.stop()
            raise AssertionError(f"no server: {self.said}")
        self.url = line.split()[2]

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line.decode())

    @property
    def link(self) -> str:
        """The owner's one-time link, said once the server listens."""
        for _ in range(PATIENCE_SECONDS * 20):
            for line in self.said:
                if "/welcome/" in line:
                    return line.split()[-1].removeprefix(self.url)
            time.sleep(0.05)
        raise AssertionError(self.said)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> Done:
        self.process.send_signal(how)
        code = self.process.wait(PATIENCE_SECONDS)
        self._listener.join()
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
        return Done(code, "", "".join(self.said))

    def person(self, home: Path, name: str, *options: str) -> Hand:
        """Someone with a connection of their own, made on the server's machine."""
        home.mkdir()
        made = self.hand.run(
            "connection", "create", "--data", str(self.folder), "--label", name, "--json", *options
        )
        assert made.code == 0, made.err
        return Hand(home, self.url, AGENTWORKS_TOKEN=made.json["token"])


@contextmanager
def served(folder: Path, *options: str) -> Iterator[Served]:
    made = Served(folder, *options)
    try:
        yield made
    finally:
        if made.process.poll() is None:
            made.stop()


class Session:
    """Replays `name$ command` lines and writes down what is seen, with ids counted and no times."""

    def __init__(self, people: dict[str, Hand]) -> None:
        self.people = people
        self.short: dict[str, str] = {}

    def replay(self, told: str) -> str:
        """The transcript with everything between the commands as it came out this time."""
        seen = []
        for line in told.splitlines():
            if found := COMMAND.match(line):
                done = self.people[found[1]].shell(self.real(found[2]))
                seen += [line, *self.shown(done.out + done.err).splitlines()]
                seen += [f"[{done.code}]"] if done.code else []
        return "\n".join(seen) + "\n"

    def shown(self, text: str) -> str:
        """Text with `msg_1` for the first message's id, and one width for every gap."""
        text = ID.sub(lambda found: self._short(found[0], found[1]), TIME.sub("<time>", text))
        return re.sub(r"(?<=\S)  +", "  ", text)

    def real(self, command: str) -> str:
        """A command with the real ids in the place of the counted ones."""
        known = {short: real for real, short in self.short.items()}
        return SHORT_ID.sub(lambda found: known.get(found[0], found[0]), command)

    def _short(self, real: str, kind: str) -> str:
        if real not in self.short:
            count = sum(each.startswith(f"{kind}_") for each in self.short.values())
            self.short[real] = f"{kind}_{count + 1}"
        return self.short[real]


def ends_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """True when a process ends in time."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True
