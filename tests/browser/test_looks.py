"""Every page in light and dark, wide and narrow: readable, within its width, nothing to report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Site, listened

CONTRAST_MIN = 4.5  # WCAG 2.2 AA for text of ordinary size
SHOTS = os.environ.get("AGENTWORKS_SCREENSHOTS")  # a folder to keep pictures in, for a reviewer

#: Texts whose contrast with what lies behind them is too low, as [text, ratio].
PALE = """
(least) => {
  const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = (color) => {
    const [r, g, b] = numbers(color).slice(0, 3).map((each) => {
      const part = each / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = getComputedStyle(each).backgroundColor;
      if ((numbers(color)[3] ?? 1) > 0) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const element = walker.currentNode.parentElement;
    if (!text || !element.checkVisibility()) continue;
    const pair = [light(getComputedStyle(element).color), light(behind(element))].sort();
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (ratio < least) found.push([text, ratio]);
  }
  return found;
}
"""


@pytest.fixture(scope="module")
def paths(site: Site) -> dict[str, str]:
    """Every page, with something on it: a named agent, two connections, a waiting program."""
    context = site.context()
    page = context.new_page()
    for label in ("laptop", "a program with a name that is long enough to need two lines of it"):
        page.goto(f"/connect/{code(site)}")
        page.get_by_label("Label").fill(label)
        page.get_by_role("button", name="Let it in").click()
    page.get_by_text("Register a name").click()
    page.get_by_label("Name", exact=True).fill("reviewer")
    page.get_by_label("laptop").check()
    page.get_by_role("button", name="Register", exact=True).click()
    one = page.locator("a[href*='/connections/']").first.get_attribute("href") or ""
    page.goto("/people")
    page.get_by_label("Name").fill("bob")
    page.get_by_role("button", name="Make a link").click()
    link = page.locator("pre").inner_text()
    context.close()
    return {
        "overview": "/",
        "connect": "/connect",
        "device": f"/connect/{code(site)}",
        "connection": one,
        "agent": "/connect/agents/reviewer",
        "people": "/people",
        "password": "/password",
        "sign-out": "/sign-out",
        "welcome": link.removeprefix(site.base),
    }


def code(site: Site) -> str:
    """The code of a program that has just asked."""
    fields = {"client_id": "test", "label": "laptop", "scope": "read run"}
    answer = httpx.post(f"{site.base}/oauth/device_authorization", data=fields)
    return str(answer.json()["user_code"])


def looked_at(page: Page, name: str) -> None:
    for summary in page.locator("main summary").all():
        summary.click()  # what is folded away is looked at too
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)
    assert page.evaluate(PALE, CONTRAST_MIN) == [], name
    too_wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not page.evaluate(too_wide), f"{name} must be scrolled sideways"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_every_page_is_readable(
    site: Site, paths: dict[str, str], console: list[str], scheme: Any, width: int
) -> None:
    size: Any = {"width": width, "height": 800}
    context = site.context(color_scheme=scheme, viewport=size, reduced_motion="reduce")
    page = listened(context.new_page(), console)
    for name, path in paths.items():
        page.goto(path)
        looked_at(page, f"{name}-{scheme}-{width}")
    context.close()
    context = site.context(signed_in=False, color_scheme=scheme, viewport=size)
    page = listened(context.new_page(), console)
    page.goto("/")
    looked_at(page, f"sign-in-{scheme}-{width}")
    assert console == []
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill("not her password")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("alert").wait_for()
    looked_at(page, f"problem-{scheme}-{width}")
    assert all("401" in said for said in console), "the browser notes the status, and no more"
    context.close()


def test_a_problem_is_heard_first_and_leads_to_its_field(site: Site, page: Page) -> None:
    page.goto("/people")
    page.get_by_label("Name").fill("a b")
    page.get_by_role("button", name="Make a link").click()
    assert page.title().startswith("Problem: ")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "alert"
    page.get_by_role("alert").get_by_role("link").click()
    field = page.get_by_label("Name")
    assert field.evaluate("(field) => field === document.activeElement")
    assert field.get_attribute("aria-invalid") == "true"
    described = (field.get_attribute("aria-describedby") or "").split()
    assert any("is 1 to 64" in page.locator(f"#{each}").inner_text() for each in described)
