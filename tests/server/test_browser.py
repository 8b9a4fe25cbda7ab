"""The page in a real browser: Chromium, driven by Playwright, against a server on this machine.

Each test fails on anything the browser's console complains of, and on any request to elsewhere.
"""

from __future__ import annotations

import http.server
import json
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2", reason="the server's packages are not installed")
pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import sync_playwright

from .conftest import COUNT, Served

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
OLD = "SELECT city, COUNT(*) AS n FROM visits WHERE age > {} GROUP BY city"
Desk = Callable[..., Any]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture
def desk(chromium: Any, served: Served) -> Iterator[Desk]:
    """`desk("ana")`: a page of somebody who is signed in, or of nobody; `quiet=False`: complaints are wanted."""
    complaints: list[str] = []
    contexts = []

    def made(name: str | None = None, *, quiet: bool = True, **how: Any) -> Any:
        context = chromium.new_context(**{"base_url": served.url, "viewport": {"width": 1200, "height": 900}} | how)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        if quiet:
            page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
            page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda asked: None if asked.url.startswith((served.url, "data:", "blob:"))
                else complaints.append(f"elsewhere: {asked.url}"))
        page.goto("/sign-in")
        if name is not None:
            page.fill("#token", served.token[name])
            page.keyboard.press("Enter")
            page.wait_for_selector("text=Sign out")
        return page

    yield made
    for context in contexts:
        context.close()
    assert complaints == []


def write(page: Any, sql: str) -> None:
    page.fill("#sql", sql)


def spent(served: Served, name: str) -> str:
    return str(served.client(name).get("/v1/budget").json()["mine"]["spent"])


def test_somebody_new_asks_with_one_click_a_price_and_another_click(desk: Desk, served: Served) -> None:
    page = desk("ana")
    page.click("text=How many for each city?")
    page.wait_for_selector(".offer .slider")
    page.check("input[value='1%']")
    page.wait_for_selector(".rehearsed svg")
    page.click("text=Ask, and pay epsilon 10")
    page.wait_for_selector("#answer svg .bar")
    kept = served.client("ana").get("/v1/answers").json()[0]
    answer = served.client("ana").get(f"/v1/answers/{kept['request']}").json()[0]
    for row, shown in zip(answer["rows"], page.query_selector_all("#answer tbody tr"), strict=True):
        assert shown.inner_text().startswith(row[0]["value"])
    assert page.locator("#answer .reach").count() == 3 * len(answer["rows"])
    assert "(10 spent)" in page.inner_text("#purse")
    assert page.inner_text("button.primary") == "Ask: this is free"


@pytest.mark.slow
def test_the_slider_goes_from_cheap_and_blurred_to_dear_and_exact(desk: Desk) -> None:
    page = desk("bob")
    write(page, "SELECT city, SUM(age) AS total FROM visits GROUP BY city")
    slider = page.wait_for_selector(".slider input")
    widths = []
    for key in ("Home", "ArrowRight", "ArrowRight"):
        slider.press(key)
        price = page.locator(".menu tr", has=page.locator(":checked")).locator("td").nth(1).inner_text()
        page.locator(".rehearsed", has_text=f"for real: epsilon {price},").wait_for()
        words = page.locator(".rehearsed .words").all_text_contents()
        widths.append(max(float(re.split("±", one)[1].replace(",", "")) for one in words))
        chosen = page.locator(".menu tr", has=page.locator(":checked"))
        assert page.inner_text("button.primary") == f"Ask, and pay epsilon {price}"
        assert chosen.locator("td").nth(2).inner_text().startswith("±")
        assert price in slider.get_attribute("aria-valuetext")
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < widths[0] / 3
    assert "made up" in page.inner_text(".rehearsed").lower()
    page.click("text=Why this much, for this error?")
    page.locator(".why pre", has_text="one unit moves").wait_for()


@pytest.mark.slow
def test_a_large_price_is_asked_about_and_a_typed_one_is_not_paid_by_enter(desk: Desk, served: Served) -> None:
    page, before = desk("bob"), spent(served, "bob")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    write(page, COUNT)
    page.check("input[value='50%']")
    page.click("button.primary")
    assert "50% of all there is" in asked[0]
    page.click("text=Another price")
    page.fill("input[name=amount]", "0.5")
    page.press("input[name=amount]", "Enter")
    assert page.inner_text("button.primary") == "Ask, and pay epsilon 0.5"
    page.locator(".rehearsed", has_text="for real: epsilon 0.5,").wait_for()
    assert page.inner_text("button.primary") == "Ask, and pay epsilon 0.5"
    assert spent(served, "bob") == before
    write(page, COUNT + " ")  # looked at again, the price stays
    page.wait_for_timeout(600)
    page.wait_for_selector(".offer input[name=amount]", state="attached")
    assert page.input_value("input[name=amount]") == "0.5"


@pytest.mark.slow
def test_an_error_is_marked_at_its_place_as_one_types_and_a_button_mends_it(desk: Desk) -> None:
    page = desk("ana")
    page.click("#sql")
    page.keyboard.type("SELECT AVG(age) AS a,\nAVG(agee) AS b FROM visits")
    page.wait_for_selector("#offer mark")
    mark = page.locator(".editor .marks mark")
    assert mark.inner_text() == page.inner_text("#offer mark") == "agee"
    box, editor = mark.bounding_box(), page.locator("#sql").bounding_box()
    assert editor["y"] + 20 < box["y"] < editor["y"] + editor["height"]  # on the second line
    page.click("text=Write age")
    page.wait_for_selector(".offer")
    assert page.input_value("#sql") == "SELECT AVG(age) AS a,\nAVG(age) AS b FROM visits"
    assert page.locator(".editor .marks mark").count() == 0


@pytest.mark.slow
def test_names_are_completed(desk: Desk) -> None:
    page = desk("ana")
    page.click("#sql")
    page.keyboard.type("SELECT ci")
    assert page.locator("#names li").all_inner_texts() == ["city"]
    page.keyboard.press("ArrowDown")
    assert page.get_attribute("#sql", "aria-activedescendant") == "name-0"
    page.keyboard.press("Enter")
    assert page.input_value("#sql") == "SELECT city"
    page.keyboard.type(" FR")
    page.keyboard.press("Escape")
    assert page.locator("#names").is_hidden()
    page.keyboard.type("OM")
    page.keyboard.press("Enter")  # nothing is chosen: the end of a line
    assert page.input_value("#sql") == "SELECT city FROM\n"
    page.keyboard.type("vis")
    page.click("#names li >> text=visits")
    page.keyboard.type(" WHERE city = 'Lee")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    assert page.input_value("#sql") == "SELECT city FROM\nvisits WHERE city = 'Leeds'"
    page.click("button.name >> text=age")
    assert page.input_value("#sql").endswith("'Leeds'age")


@pytest.mark.slow
def test_a_receipt_that_was_downloaded_is_dropped_and_holds(desk: Desk, served: Served, tmp_path: Path) -> None:
    request = served.ask("ana", sql=OLD.format(31), epsilon="0.031").json()["receipt"]["request"]
    page = desk("ana")
    page.goto(f"/answers/{request}")
    with page.expect_download() as waited:
        page.click("text=Receipt >> nth=-1")
    receipt = tmp_path / waited.value.suggested_filename
    waited.value.save_as(receipt)
    nobody = desk()
    nobody.goto("/verify")
    nobody.set_input_files("input[type=file]", receipt)
    nobody.wait_for_selector("text=The receipt holds")
    forged = json.loads(receipt.read_text()) | {"epsilon": "1/3"}
    nobody.evaluate("""(text) => {
        const carried = new DataTransfer();
        carried.items.add(new File([text], "receipt.json", { type: "application/json" }));
        document.querySelector(".drop").dispatchEvent(new DragEvent("drop", { dataTransfer: carried, bubbles: true }));
    }""", json.dumps(forged))
    nobody.wait_for_selector("text=The receipt does NOT hold")


@pytest.mark.slow
def test_another_site_can_neither_ask_nor_read(desk: Desk, served: Served) -> None:
    """From another port of the same machine, which is the same site, so that cookies are sent; and another name."""
    page, before = desk("ana", quiet=False), spent(served, "ana")
    form = f"""<form method="post" action="{served.url}/ask"><input name="sql" value="{COUNT}"><input name="amount"
        value="0.5"><input name="currency" value="epsilon"></form>"""

    class Evil(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(form.encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Evil)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        for host in ("127.0.0.1", "localhost"):
            other = page.context.new_page()
            other.goto(f"http://{host}:{server.server_port}/")
            read = other.evaluate(f"""async () => {{
                const body = new URLSearchParams({{ sql: {json.dumps(COUNT)}, amount: "0.5", currency: "epsilon" }});
                const told = [];
                for (const mode of ["cors", "no-cors"]) {{
                    for (const path of ["/ask", "/ask/check", "/v1/ask"]) {{
                        try {{
                            const reply = await fetch("{served.url}" + path,
                                {{ method: "POST", mode, body, credentials: "include" }});
                            told.push(await reply.text());
                        }} catch (error) {{ told.push(""); }}
                    }}
                }}
                return told.join("");
            }}""")
            assert read == ""
            with other.expect_navigation():
                other.evaluate("document.forms[0].submit()")
            refused = other.inner_text("main")
            assert "not of a page that you have open" in refused or "Your token" in refused
            other.close()
    finally:
        server.shutdown()
        server.server_close()
    assert spent(served, "ana") == before


@pytest.mark.slow
def test_a_script_that_got_into_the_page_does_not_run(desk: Desk) -> None:
    page = desk("ana", quiet=False)
    page.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "window.ran = 1";
        const picture = document.createElement("div");
        picture.innerHTML = "<img src=x onerror='window.ran = 2'><p style='position:fixed' id=styled></p>";
        document.body.append(script, picture);
    }""")
    page.wait_for_timeout(300)
    assert page.evaluate("window.ran") is None
    assert page.evaluate("getComputedStyle(document.querySelector('#styled')).position") == "static"
    assert page.evaluate("document.cookie") == ""
    assert page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'stopped')") == "stopped"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ana", "stu"])
def test_at_360_pixels_nothing_is_beside_the_screen(name: str, desk: Desk, served: Served) -> None:
    request = served.ask(name, sql=OLD.format(32), epsilon="0.032").json()["receipt"]["request"]
    page = desk(name, viewport={"width": 360, "height": 740}, has_touch=True)

    def fits(what: str) -> None:
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, what

    for path in ("/", "/tables", "/answers", f"/answers/{request}", "/budget", "/verify",
                 *(("/data", "/people", "/log") if name == "stu" else ())):
        page.goto(path)
        fits(path)
    page.goto("/")
    write(page, "SELECT city, COUNT(*) AS a_title_that_is_rather_long, AVG(age) AS another_one_of_these, "
                "SUM(age) AS and_a_third_of_them FROM visits GROUP BY city")
    page.wait_for_selector(".rehearsed svg")
    fits("an offer")
    page.check("input[value='1%']")
    page.click("button.primary")
    page.wait_for_selector("#answer svg")
    fits("an answer")
    write(page, "SELECT AVG(a_column_that_is_not_there_and_has_a_name_without_any_space_in_it) FROM visits")
    page.wait_for_selector("#offer .wrong")
    fits("a refusal")


@pytest.mark.slow
def test_all_of_it_by_keyboard(desk: Desk, served: Served) -> None:
    page = desk()

    def to(selector: str) -> None:
        for _ in range(60):
            if page.evaluate("(s) => document.activeElement.matches(s)", selector):
                outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                assert outline != "none", selector  # one sees where one is
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"{selector} cannot be reached")

    to("#token")
    page.keyboard.type(served.token["bob"])
    page.keyboard.press("Enter")
    page.wait_for_selector("#sql")
    to(".skip")
    page.keyboard.press("Enter")
    to("#sql")
    page.keyboard.type(COUNT)
    page.keyboard.press("Escape")
    page.wait_for_selector(".slider")
    to(".slider input")
    page.keyboard.press("Home")
    to("button.primary")
    page.keyboard.press("Enter")
    page.wait_for_selector("#answer svg")
    to("#answer a[href$='/csv']")


@pytest.mark.slow
def test_all_of_it_without_a_script(desk: Desk) -> None:
    page = desk("bob", java_script_enabled=False)
    page.fill("#sql", COUNT)
    page.click("text=Check, and show prices")
    page.check("input[value='1%']")
    page.click("text=Show how blurred")
    assert page.locator(".rehearsed svg").count() == 1
    assert page.is_checked("input[value='1%']")
    page.click("button.primary")
    assert page.locator("#answer svg").count() == 1
    page.click("text=My answers")
    page.click("tbody a")
    assert page.locator(".answer svg").count() == 1
    page.click("text=Sign out")
    assert page.locator("#token").count() == 1


@pytest.mark.slow
def test_a_new_account_signs_in_and_is_signed_out_when_its_token_is_revoked(desk: Desk, served: Served) -> None:
    steward = desk("stu")
    steward.on("dialog", lambda dialog: dialog.accept())
    steward.click("text=People")
    steward.fill("input[name=name] >> visible=true", "kim")
    steward.fill("form:has(select) input[name=limit]", "0.5")
    steward.click("text=Make it")
    served.token["kim"] = steward.inner_text("code.token")
    kim = desk("kim")
    assert "0.5 left of your epsilon 0.5" in kim.inner_text("#purse")
    write(kim, COUNT)
    kim.wait_for_selector("text=Another price")
    assert kim.locator(".menu input:not(:disabled)").count() == 0
    kim.fill("input[name=amount]", "0.25")
    kim.click("text=Ask, and pay epsilon 0.25")
    kim.wait_for_selector("#answer svg")
    kim.wait_for_timeout(700)  # until no look at a price is waiting
    kim.wait_for_load_state("networkidle")
    steward.locator(".person", has_text="kim").locator("text=Let nobody sign in").click()
    steward.wait_for_selector("text=kim signs in no more")
    write(kim, COUNT + " ")
    kim.wait_for_selector("#token")


@pytest.mark.slow
def test_the_steward_reads_the_data_and_sees_who_spent_what(desk: Desk, served: Served) -> None:
    served.ask("ana", sql=OLD.format(33), epsilon="0.033")
    page = desk("stu", color_scheme="dark")
    page.click("text=Data")
    page.fill("input[name=version]", "browsed")
    page.click("button.primary")
    page.wait_for_selector(".report")
    assert "these counts are private" in page.inner_text(".report")
    page.click("text=Back to the data")
    page.click("text=Work it out")
    page.wait_for_selector("text=The ledger holds")
    page.click("nav >> text=Budget")
    assert page.locator(".list tbody tr", has_text="ana").locator("path.line").count() == 1
    page.click("nav >> text=History")
    assert "opened" in page.inner_text("tbody")
