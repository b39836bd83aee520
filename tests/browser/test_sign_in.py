"""A program is let in and shut out again, by a person before a real browser."""

from __future__ import annotations

import json

from playwright.sync_api import Page, expect

from tests.browser.conftest import PASSWORD, Program, Site, listened


def test_a_program_is_let_in_works_and_is_shut_out(
    page: Page, program: Program, console: list[str]
) -> None:
    with program.running("login", "--json") as login:
        page.goto(login.link)
        expect(page.get_by_role("heading", level=1)).to_have_text("Let a program in?")
        expect(page.locator(".usercode")).to_contain_text(login.code)
        page.get_by_label("Label").fill("the build machine")
        page.get_by_label("When it ends").select_option("30")
        page.get_by_role("button", name="Let it in").click()
        expect(page.get_by_role("status")).to_contain_text("The program is let in")
        code, said = login.end()
    assert code == 0
    connection_id = json.loads(said)["connection_id"]

    context = json.loads(program.run("guidance", "context", "--json").stdout)
    assert context["account_name"] == "ada"
    assert context["connection"]["connection_id"] == connection_id
    assert context["connection"]["label"] == "the build machine"
    assert program.run("messages", "register", "--agent", "builder").returncode == 0

    page.reload()
    row = page.get_by_role("row").filter(has_text=connection_id)
    expect(row).to_contain_text("in 30 days")
    named = page.get_by_role("row").filter(has_text="agent:builder")
    expect(named).to_contain_text("the build machine")
    row.locator("summary").click()
    row.get_by_role("button", name="Revoke it now").click()
    expect(page.get_by_role("status")).to_contain_text("The connection is revoked")
    assert program.run("guidance", "context").returncode == 4
    assert console == []


def test_a_program_that_is_turned_away_gets_nothing(page: Page, program: Program) -> None:
    with program.running("login") as login:
        page.goto(login.link)
        page.get_by_role("button", name="Turn it away").click()
        expect(page.get_by_role("status")).to_contain_text("The program was turned away")
        assert login.end() == (3, "")
    assert program.run("guidance", "context").returncode == 4


def test_whoever_is_not_signed_in_comes_to_the_program_after_the_password(
    site: Site, program: Program
) -> None:
    """Without a single line of script, as in a browser that runs none."""
    context = site.context(signed_in=False, java_script_enabled=False)
    page = context.new_page()
    with program.running("login") as login:
        page.goto(login.link)
        page.get_by_label("Name").fill("ada")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator(".usercode")).to_contain_text(login.code)
        page.get_by_label("Only these:").check()
        page.get_by_role("button", name="Let it in").click()
        expect(page.get_by_role("alert")).to_contain_text("Choose at least one agent")
        page.get_by_label("Every agent").check()
        page.get_by_role("button", name="Let it in").click()
        expect(page.get_by_role("status")).to_be_visible()
        assert login.end()[0] == 0
    context.close()


def test_everything_can_be_done_with_the_keyboard(
    site: Site, program: Program, console: list[str]
) -> None:
    context = site.context(signed_in=False)
    page = listened(context.new_page(), console)
    page.goto("/connect")
    expect(page.get_by_label("Name")).to_be_focused()  # nothing has to be looked for
    page.keyboard.type("ada")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{site.base}/connect")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Code")).to_be_focused()
    with program.running("login") as login:
        page.keyboard.type(login.code.lower())
        page.keyboard.press("Enter")
        expect(page).to_have_url(f"{site.base}/connect/{login.code}")
        for _ in range(40):
            page.keyboard.press("Tab")
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline == "solid", page.evaluate("document.activeElement.outerHTML")
            if page.evaluate("document.activeElement.value") == "approve":
                break
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("The program is let in")
        assert login.end()[0] == 0
    assert console == []
    context.close()
