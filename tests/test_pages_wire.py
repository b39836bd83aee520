"""What goes over the wire with pages: headers, cookies, and whose form it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentworks.web import SECURITY_HEADERS
from agentworks.web.forms import BODY_BYTES_MAX
from tests.pages_office import PASSWORD, Browser, Office, Seen, opened


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """One server and its owner for all of it."""
    with opened(tmp_path_factory.mktemp("wire")) as found:
        yield found


@pytest.fixture(scope="module")
def ada(office: Office) -> Browser:
    return office.owner()


def everywhere(office: Office, ada: Browser) -> Iterator[str]:
    """Leaves the last answer of every kind with the browser, one after the other."""
    granted = office.lets_in(ada)
    ada.get("/connect")
    ada.press("register", agent_name="worker")
    paths = ["/", "/connect", "/people", "/password", "/sign-out", "/sign-in", "/nope", "/a/b/c"]
    paths += [f"/connect/{office.asks()['user_code']}", "/connect/agents/worker", "/connect/x"]
    paths += [f"/connect/connections/{granted['connection_id']}", "/welcome/over", "/static/x.css"]
    for path in paths:
        ada.get(path)
        yield path
    ada.answer = ada.client.put("/connect")
    yield "PUT /connect"
    ada.post("/connect", {"act": "find"})
    yield "POST without a token"
    ada.answer = ada.client.post("/connect", content=b"x" * (BODY_BYTES_MAX + 1))
    yield "POST too much"


# ── headers and cookies ──────────────────────────────────────────────────────────────────────


def test_every_answer_has_the_security_headers_and_is_never_kept(
    office: Office, ada: Browser
) -> None:
    for _ in everywhere(office, ada):
        headers = ada.answer.headers
        for name, value in SECURITY_HEADERS:
            assert headers.get_list(name.decode()) == [value.decode()], ada.answer.url
        assert headers["cache-control"] == "no-store"
        if ada.status != 303:
            assert headers["content-type"] == "text/html; charset=utf-8", ada.answer.url


def test_no_page_has_a_script_a_style_or_an_address_of_others(office: Office, ada: Browser) -> None:
    for path in everywhere(office, ada):
        assert not re.search(r"<(script|style|iframe|base)\b", ada.answer.text), path
        assert not re.search(r"""\s(style|on\w+)\s*=\s*["']""", ada.answer.text), path
        assert not re.search(r"""(src|href|action)=["']?(https?:|//)""", ada.answer.text), path


def test_static_files_are_kept_for_ever_under_their_hash(office: Office) -> None:
    browser = office.browser()
    seen = browser.get("/sign-in")
    for path in {each["href"] for each in seen.all("link")}:
        assert re.fullmatch(r"/static/\w+\.[0-9a-f]{12}\.(css|svg)", path)
        browser.get(path)
        assert browser.status == 200
        assert browser.answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert browser.answer.headers["x-content-type-options"] == "nosniff"
        head = browser.client.head(path)
        assert (head.content, head.headers["content-length"]) == (
            b"",
            str(len(browser.answer.content)),
        )
        assert browser.client.post(path).status_code == 404
    for path in ("/static/pages.css", "/static/", "/static/..%2Fwire.py", "/static/a/b"):
        browser.get(path)
        assert browser.status == 404


def test_the_session_s_cookie_is_for_this_server_alone(office: Office, ada: Browser) -> None:
    port = office.base.rpartition(":")[2]
    browser = office.browser()
    browser.sign_in()
    cookie = browser.answer.headers["set-cookie"]
    assert re.fullmatch(
        rf"aw_session_{port}=aws_[\w-]+; Path=/; Max-Age=\d+; HttpOnly; SameSite=Lax", cookie
    )


def test_behind_tls_a_cookie_never_goes_in_the_clear(tmp_path: Path) -> None:
    with opened(tmp_path, behind_proxy=True) as office:
        proxied = {"x-forwarded-proto": "https", "host": "agents.example"}
        answer = office.browser(**proxied).client.get(office.link)
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("__Host-aw_form=") and cookie.endswith("; Secure")
        assert "; Path=/;" in cookie and "Domain" not in cookie


def test_a_page_tells_the_address_the_browser_knows(office: Office, ada: Browser) -> None:
    secret = next(value for name, value in ada.client.cookies.items() if "session" in name)
    for host, place in [("agents.example:99", "_99"), ("agents.example", ""), ("[::1]:80", "_80")]:
        browser = office.browser(host=host, cookie=f"aw_session{place}={secret}")
        assert f"agentworks --server http://{host} login" in browser.get("/connect").text
    for host in ("<b>", "a b", "evil.example/x", "a@b"):
        answer = office.raw(f"GET /sign-in HTTP/1.1\r\nhost: {host}\r\n\r\n".encode())
        assert answer[9:12] in (b"200", b"400") and host.encode() not in answer
    assert office.raw(b"GET /sign-in HTTP/1.0\r\n\r\n")[9:12] == b"200"


# ── whose form it is ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "null"},
        {"origin": "https://evil.example"},
        {"origin": "http://127.0.0.1"},
        {"origin": ""},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://127.0.0.1:1", "sec-fetch-site": "same-origin"},
    ],
)
def test_a_form_of_another_site_changes_nothing(
    office: Office, ada: Browser, headers: dict[str, str]
) -> None:
    ada.get("/connect")
    action, fields = ada.form("register")
    ada.post(action, {**fields, "agent_name": "unwanted"}, **headers)
    assert ada.status == 403 and "came from elsewhere" in ada.answer.text
    assert "agent:unwanted" not in ada.get("/connect").text
    stranger = office.browser()
    stranger.get("/sign-in")
    action, fields = stranger.form("sign-in")
    stranger.post(action, {**fields, "account_name": "ada", "password": PASSWORD}, **headers)
    assert stranger.status == 403


def test_a_form_of_our_own_is_taken(office: Office, ada: Browser) -> None:
    ada.get("/connect")
    action, fields = ada.form("register")
    own = {"origin": office.base, "sec-fetch-site": "same-origin"}
    ada.post(action, {**fields, "agent_name": "wanted"}, **own)
    assert ada.status == 303


@pytest.mark.parametrize("token", [None, "", "0" * 64, "é", "of bob"])
def test_a_form_without_its_own_token_changes_nothing(
    office: Office, ada: Browser, token: str | None
) -> None:
    if token == "of bob":
        bob = office.person(ada, "bob")
        bob.get("/connect")
        token = bob.form("find")[1]["csrf"]
    ada.get("/connect")
    action, fields = ada.form("register")
    ada.post(action, {**fields, "agent_name": "unwanted", "csrf": token})
    assert ada.status == 403 and "out of date" in ada.answer.text
    assert "agent:unwanted" not in ada.get("/connect").text


def test_without_cookies_one_is_told_to_allow_them(office: Office, ada: Browser) -> None:
    browser = office.browser()
    browser.get("/sign-in")
    action, fields = browser.form("sign-in")
    browser.client.cookies.clear()
    told = browser.post(action, {**fields, "account_name": "ada", "password": PASSWORD}).text
    assert browser.status == 403 and "Allow cookies" in told


# ── a page for everybody ─────────────────────────────────────────────────────────────────────


def test_every_page_can_be_used_without_seeing_it(office: Office, ada: Browser) -> None:
    for path in everywhere(office, ada):
        if ada.status == 303:
            continue
        seen = Seen(ada.answer.text)
        ids = [each["id"] for _, each in seen.tags if "id" in each]
        assert len(ids) == len(set(ids)), path
        assert len(seen.all("h1")) == 1 and len(seen.all("main")) == 1, path
        assert [each["lang"] for each in seen.all("html")] == ["en"], path
        assert len(seen.all("caption")) == len(seen.all("table")), path
        labelled = {each.get("for") for each in seen.all("label")}
        for field in seen.all("input") + seen.all("select"):
            if field.get("type") not in ("hidden", "checkbox", "radio"):
                assert field.get("id") in labelled or "aria-hidden" in field, (path, field)
        told = [each["aria-describedby"] for _, each in seen.tags if "aria-describedby" in each]
        assert {word for each in told for word in each.split()} <= set(ids), path
        linked = {each["href"][1:] for each in seen.all("a") if each["href"].startswith("#")}
        assert linked <= set(ids), path
