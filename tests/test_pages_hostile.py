"""Everything hostile that can be sent to a page: refused, never a 5xx, nothing changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from agentworks.web.forms import BODY_BYTES_MAX, Unreadable, parse
from agentworks.web.visits import Page
from agentworks.web.wire import instead_of
from tests.pages_office import Browser, Office, opened

FORM = "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """One server for all of it: it must stay what it was."""
    with opened(tmp_path_factory.mktemp("hostile")) as found:
        yield found


@pytest.fixture(scope="module")
def ada(office: Office) -> Browser:
    return office.owner()


def known(browser: Browser) -> str:
    """The head lines by which the server knows this browser."""
    cookies = "; ".join(f"{name}={value}" for name, value in browser.client.cookies.items())
    return f"host: {browser.base[7:]}\r\ncookie: {cookies}\r\n"


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (FORM, b"act=find&act=find"),
        (FORM, b"scope:read=on&scope:read=on"),
        (FORM, b"a=%ff"),
        (FORM, b"%ff=a"),
        (FORM, b"a=%ED%A0%80"),
        (FORM, b"a=%00"),
        (FORM, b"a=%"),
        (FORM, b"a=%zz"),
        (FORM, "a=é".encode()),
        (FORM, b"\x00"),
        ("application/json", b"{}"),
        ("multipart/form-data; boundary=x", b"--x--"),
        ("", b"a=b"),
        (f"{FORM}, {FORM}", b"a=b"),
    ],
)
def test_a_body_that_is_no_form_of_ours_is_refused(ada: Browser, kind: str, body: bytes) -> None:
    with pytest.raises(Unreadable):
        parse(kind, body)
    ada.answer = ada.client.post("/connect", content=body, headers={"content-type": kind})
    assert ada.status == 400


def test_fields_that_a_page_does_not_know_are_refused(ada: Browser) -> None:
    ada.get("/connect")
    action, fields = ada.form("register")
    for more in ({"x": "y"}, {"other:x": "on"}, {"act": "nothing"}, {"act": ""}):
        ada.post(action, {**fields, "agent_name": "worker", **more})
        assert ada.status == 400
    assert "agent:worker" not in ada.get("/connect").text


def test_a_body_is_at_most_64_kib(ada: Browser, office: Office) -> None:
    ada.get("/connect")
    action, fields = ada.form("find")
    ada.post(action, {**fields, "user_code": "x" * 65_000})
    assert ada.status == 400  # read, and no code
    ada.post(action, {**fields, "user_code": "x" * BODY_BYTES_MAX})
    assert ada.status == 413
    head = f"POST /connect HTTP/1.1\r\n{known(ada)}"
    chunks = b"1000\r\n" + b"x" * 4096 + b"\r\n"
    answer = office.raw(f"{head}transfer-encoding: chunked\r\n\r\n".encode() + chunks * 20)
    assert answer.startswith(b"HTTP/1.1 413 ") and b"connection: close" in answer
    answer = office.raw(f"{head}content-length: 99999999999999999999\r\n\r\nx".encode())
    assert answer[9:12] in (b"413", b"400")


def test_a_browser_that_hangs_up_leaves_nothing(office: Office, ada: Browser) -> None:
    head = f"POST /connect HTTP/1.1\r\n{known(ada)}"
    assert office.raw(f"{head}content-length: 100\r\n\r\nact=find".encode()) == b""
    ada.get("/connect")
    assert ada.status == 200


@pytest.mark.parametrize(
    "path",
    [
        *("/connect/%00", "/connect/%ff", "/connect/a%2Fb", "/connect/..", "/connect//x", "//"),
        *("/connect/" + "a" * 4_000, "/welcome/%C3%A9", "/welcome/", "/%", "/%zz", "/connect/%0a"),
        *("/connect?code=%ff", "/connect?code=a&code=b", "/connect?code=" + "a" * 9_000),
        *(
            "/connect?code=%00",
            "/connect?code=//evil",
            "/sign-in?next=%ff",
            "/sign-in?next=a&next=b",
        ),
        *("/connect/connections/%22%3E", "/connect/agents/%E2%80%AE", "/connect/agents/x/y"),
        "/connect?" + quote("<>\"'"),
    ],
)
def test_no_address_breaks_the_server(office: Office, ada: Browser, path: str) -> None:
    for browser in (ada, office.browser()):
        answer = office.raw(
            f"GET {path} HTTP/1.1\r\nconnection: close\r\n{known(browser)}\r\n".encode()
        )
        status = int(answer[9:12])
        assert status in (200, 303, 400, 404), answer[:300]
        led = re.search(rb"\r\nlocation: (\S*)", answer)
        assert not led or re.match(rb"/$|/(sign-in|connect)", led[1]), answer[:300]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
def test_other_methods_are_told_what_works(ada: Browser, method: str) -> None:
    ada.answer = ada.client.request(method, "/connect")
    assert (ada.status, ada.answer.headers["allow"]) == (405, "GET, HEAD, POST")
    ada.answer = ada.client.request("POST", "/")
    assert (ada.status, ada.answer.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    "cookie", ["", "=", ";;;", "aw_session", "a=b; aw_session=%7f", "x" * 5_000, '"', "é"]
)
def test_strange_cookies_are_nobody_s(office: Office, cookie: str) -> None:
    port = office.base.rpartition(":")[2]
    browser = office.browser()
    for given in (cookie, f"aw_session_{port}={cookie}", f"aw_notice_{port}={cookie}"):
        browser.answer = browser.client.get("/", headers=[(b"cookie", given.encode())])
        assert browser.place.startswith("/sign-in")


def test_a_fault_is_told_as_a_number(caplog: pytest.LogCaptureFixture) -> None:
    page = instead_of(RuntimeError("secret"))
    assert isinstance(page, Page) and page.status == 500
    number = page.values["sentences"][-1]
    assert number.startswith("fault_") and number in caplog.text and "secret" in caplog.text
    assert "secret" not in str(page.values)
