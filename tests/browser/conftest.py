"""A server process, its first person, and headless Chromium."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, sync_playwright

ROOT = Path(__file__).parent.parent.parent
PASSWORD = "correct horse battery"
PATIENCE_SECONDS = 30
ARGUMENTS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
).split()

#: What the browser itself finds wrong with a page arrives on its console, CSP reports too.
LISTEN = """
document.addEventListener("securitypolicyviolation", (found) =>
  console.error("CSP", found.violatedDirective, found.blockedURI, found.sourceFile));
"""


class Program:
    """`python -m cli …` with a config file of its own; its lines are read as they come."""

    def __init__(self, base: str, config: Path) -> None:
        self.words = [sys.executable, "-m", "cli", "--config", str(config), "--server", base]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.words, *words],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )

    @contextmanager
    def running(self, *words: str) -> Iterator[Running]:
        """The command while it runs; whatever happens, it does not outlive the test."""
        with subprocess.Popen(
            [*self.words, *words],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as started:
            running = Running(started)
            try:
                yield running
            finally:
                started.kill()
                running.warned.close()


class Lines:
    """What a process says on one of its streams, waited for with patience."""

    def __init__(self, stream: Any) -> None:
        self._lines: Queue[str] = Queue()
        self._reader = threading.Thread(target=self._read, args=(stream,))
        self._reader.start()

    def close(self) -> None:
        """Call it once the process has ended."""
        self._reader.join(PATIENCE_SECONDS)

    def _read(self, stream: Any) -> None:
        for line in stream:
            self._lines.put(line)

    def until(self, pattern: str) -> re.Match[str]:
        """The first match; everything before it is passed over."""
        seen = ""
        while not (found := re.search(pattern, seen)):
            seen += self._lines.get(timeout=PATIENCE_SECONDS)
        return found


class Running:
    """A command that waits for a person."""

    def __init__(self, started: subprocess.Popen[str]) -> None:
        self._started = started
        self.warned = Lines(started.stderr)
        self.link = self.warned.until(r"http://\S+")[0]
        self.code = self.warned.until(r"\b[A-Z]{4}-[A-Z]{4}\b")[0]

    def end(self) -> tuple[int, str]:
        """Its exit code and what it printed, once it has ended by itself."""
        code = self._started.wait(PATIENCE_SECONDS)
        assert self._started.stdout
        return code, self._started.stdout.read()


class Site:
    """The running server as a person with a browser meets it."""

    def __init__(self, base: str, link: str, browser: Browser) -> None:
        self.base, self.link, self.browser = base, link, browser
        self.state: Any = None  # the owner's cookies, once there is one

    def context(self, *, signed_in: bool = True, **wishes: Any) -> BrowserContext:
        state = self.state if signed_in else None
        made = self.browser.new_context(base_url=self.base, storage_state=state, **wishes)
        made.set_default_timeout(PATIENCE_SECONDS * 1000)
        made.add_init_script(LISTEN)
        return made


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium")
    assert path, "no chromium: run make test-deps"
    with sync_playwright() as started:
        found = started.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield found
        found.close()


@pytest.fixture(scope="session")
def site(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server on a free port whose owner, ada, has a password."""
    folder = tmp_path_factory.mktemp("served")
    words = [sys.executable, "-m", "cli", "serve", "--data", str(folder), "--port", "0"]
    with subprocess.Popen(
        [*words, "--allow-root"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        said, warned = Lines(server.stdout), Lines(server.stderr)
        try:
            base = said.until(r"http://127\.0\.0\.1:\d+")[0]
            link = warned.until(r"http://\S+/welcome/\S+")[0]
            found = Site(base, link, browser)
            found.state = first_start(found)
            yield found
        finally:
            server.terminate()
            server.wait(PATIENCE_SECONDS)
            for each in (said, warned):
                each.close()


def first_start(site: Site) -> Any:
    """The owner opens the printed link and chooses a name and a password; the cookies after it."""
    context = site.context(signed_in=False)
    page = context.new_page()
    page.goto(site.link)
    page.get_by_label("Your name").fill("ada")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("The password again").fill(PASSWORD)
    page.get_by_role("button", name="Begin").click()
    page.get_by_text("You are signed in").wait_for()
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture
def program(site: Site, tmp_path: Path) -> Program:
    return Program(site.base, tmp_path / "program.json")


@pytest.fixture
def console() -> list[str]:
    """Everything the browser has said about the pages of this test."""
    return []


@pytest.fixture
def page(site: Site, console: list[str]) -> Iterator[Page]:
    """A page of the owner's browser."""
    context = site.context()
    yield listened(context.new_page(), console)
    context.close()


def failed(request: Request) -> list[str]:
    """A request that failed. One that the browser gave up by going elsewhere has not."""
    return [] if request.failure == "net::ERR_ABORTED" else [f"failed: {request.url}"]


def listened(page: Page, console: list[str]) -> Page:
    page.on("console", lambda said: console.append(f"{said.type}: {said.text}"))
    page.on("pageerror", lambda fault: console.append(f"fault: {fault}"))
    page.on("requestfailed", lambda request: console.extend(failed(request)))
    return page
