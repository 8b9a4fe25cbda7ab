"""The page: who sees which, forms that nobody else can send, the same answers as elsewhere, and nothing unescaped."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

pytest.importorskip("jinja2", reason="the server's packages are not installed")

from dpcurator.server.page import pages
from dpcurator.server.page.charts import bars_of, share, spending, ticks
from dpcurator.server.page.shell import HERE, asset
from dpcurator.server.page.words import mends_of, place_of

from .conftest import COUNT, ROLES, Served, clinic, run

ALL, READERS, STEWARD = frozenset(ROLES.values()), frozenset({"steward", "auditor"}), frozenset({"steward"})
WHO = {"analyst": "ana", "auditor": "aud", "steward": "stu", "nobody": None}
FORMS = {"/ask": {"sql": COUNT, "amount": "0.01", "currency": "epsilon"}, "/ask/check": {"sql": COUNT},
         "/ask/rehearse": {"sql": COUNT, "spend": "1%"}, "/ask/why": {"sql": COUNT, "spend": "1%"},
         "/verify": {"receipt": "{}"}, "/data/refresh": {"version": "v"},
         "/people": {"name": "ana", "do": "limit", "limit": "900"}, "/sign-in": {"token": "nobody"}}
ALLOWED: dict[str, frozenset[str]] = {
    **dict.fromkeys(("GET /static/{name}", "GET /sign-in", "POST /sign-in", "POST /sign-out", "GET /verify",
                     "POST /verify"), ALL | {"nobody"}),
    **dict.fromkeys(("GET /", "POST /ask", "POST /ask/check", "POST /ask/rehearse", "POST /ask/why", "GET /tables",
                     "GET /answers", "GET /answers/{name}", "GET /answers/{name}/{number}/{kind}",
                     "GET /receipts/{name}", "GET /budget"), ALL),
    **dict.fromkeys(("GET /log", "POST /log/recompute"), READERS),
    **dict.fromkeys(("GET /data", "POST /data/refresh", "POST /data/reopen", "GET /people", "POST /people"), STEWARD),
}


class Sound(HTMLParser):
    """A page's form key, its links and its text; what could run, or be loaded from elsewhere, is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.form, self.links, self.words, self.scripts = "", [], [], 0  # type: ignore[var-annotated]
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        told = dict(attributes)
        assert len(told) == len(attributes), (tag, attributes)
        if tag not in ("meta", "link", "img", "input", "line", "rect", "path"):
            self.open.append(tag)
        assert tag not in ("style", "iframe", "object", "embed", "base"), tag
        for name, value in attributes:
            assert not name.startswith("on"), (tag, name)
            assert name not in ("style", "srcdoc", "http-equiv"), (tag, name)
            if name in ("href", "src", "action", "formaction", "hx-post", "hx-get"):
                inside = tag == "a" and "download" in told and (value or "").startswith("data:")
                assert inside or re.match(r"(/[^/]|/$|#)", value or ""), (tag, name, value)
        if tag == "script":
            assert told.get("src", "").startswith("/static/"), told
            self.scripts += 1
        if tag == "input" and told.get("name") == "form":
            self.form = told["value"] or ""
        if tag == "a":
            self.links.append(told["href"])

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag in ("line", "rect", "path"), tag
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.words))


@dataclass
class Browser:
    """What a browser does: keeps cookies, says which site a form is of, sends what the form holds."""

    client: Any
    form: str = ""
    headers: dict[str, str] = field(default_factory=lambda: {"sec-fetch-site": "same-origin"})

    def get(self, path: str, status: int = 200) -> Sound:
        reply = self.client.get(path)
        assert reply.status_code == status, reply.text
        return self.shown(reply)

    def shown(self, reply: Any) -> Sound:
        assert "script-src 'self'" in reply.headers["content-security-policy"]
        assert "unsafe" not in reply.headers["content-security-policy"]
        found = Sound(reply.text)
        self.form = found.form or self.form
        return found

    def send(self, path: str, **fields: str) -> Any:
        return self.client.post(path, data={"form": self.form, **fields}, headers=self.headers)

    def post(self, path: str, status: int = 200, **fields: str) -> Sound:
        reply = self.send(path, **fields)
        assert reply.status_code == status, reply.text
        return self.shown(reply)

    def sign_in(self, token: str) -> Browser:
        self.get("/sign-in")
        reply = self.send("/sign-in", token=token)
        assert (reply.status_code, reply.headers.get("location")) == (303, "/"), reply.text
        self.get("/")
        return self


@pytest.fixture(scope="module")
def signed_in() -> dict[str, tuple[dict[str, str], str]]:
    """Cookies and form key of each account: one session for all tests."""
    return {}


@pytest.fixture
def browse(served: Served, signed_in: dict[str, Any]) -> Callable[..., Browser]:
    def made(name: str | None = None) -> Browser:
        found = Browser(served.client())
        if name is None:
            return found
        if name not in signed_in:
            found.sign_in(served.token[name])
            signed_in[name] = dict(found.client.cookies), found.form
        found.client.cookies.update(signed_in[name][0])
        found.form = signed_in[name][1]
        return found

    return made


Browse = Callable[..., Browser]


# Who

def test_every_page_has_a_row_in_the_table_of_roles() -> None:
    assert {f"{row.method} {row.path}" for row in pages.PAGES} == set(ALLOWED)


@pytest.mark.parametrize("who", WHO)
def test_no_role_sees_more_pages_than_the_table_says(who: str, browse: Browse) -> None:
    browser = browse(WHO[who])
    browser.get("/verify")
    for address, allowed in ALLOWED.items():
        method, path = address.split()
        if path in ("/sign-in", "/sign-out", "/static/{name}"):
            continue
        target = path.replace("{name}", "none").replace("{number}/{kind}", "1/csv")
        reply = browser.client.get(target) if method == "GET" else browser.send(target, **FORMS.get(path, {}))
        if who in allowed:
            assert reply.status_code < 500, (address, reply.text)
            assert reply.status_code != 403 or (path, who) == ("/ask", "auditor"), (address, reply.text)
        elif who == "nobody":
            after = f"?after={target}" if method == "GET" and target != "/" else ""
            assert (reply.status_code, reply.headers["location"]) == (303, f"/sign-in{after}"), address
        else:
            assert reply.status_code == 403, address
            assert "this is not for the role" in browser.shown(reply).text


def test_an_auditor_looks_and_asks_nothing(browse: Browse, served: Served) -> None:
    auditor = browse("aud")
    assert "does not ask" in auditor.post("/ask/check", sql=COUNT).text
    assert "not for the role auditor" in auditor.post("/ask", sql=COUNT, spend="1%").text
    served.ask("ana", epsilon="0.011")
    log = auditor.get("/log").text
    assert "charged" in log
    assert "SELECT" not in log
    assert "The ledger holds" in auditor.post("/log/recompute").text
    assert "SELECT city" in browse("stu").get("/log").text
    receipts = [link for link in auditor.get("/log").links if link.startswith("/receipts/")]
    found = auditor.client.get(receipts[0])
    assert served.curator().verify(found.json()).holds
    assert found.headers["content-disposition"].startswith("attachment")
    assert browse("bob").client.get(receipts[0]).status_code == 400  # ana's


# Signing in

def test_a_session_begins_with_a_token_and_ends_when_one_signs_out(browse: Browse, served: Served) -> None:
    browser = browse()
    assert "epsilon" not in browser.get("/sign-in").text
    for after in ("//evil.example/", "https://evil.example/", "/\\evil.example", "/%2f", "/a\r\nb: c", ""):
        browser.get("/sign-in")
        assert browser.send("/sign-in", token=served.token["ana"], after=after).headers["location"] == "/"
        browser.get("/")
        browser.send("/sign-out")
    assert 'value="/budget"' in browser.client.get("/sign-in?after=/budget").text
    browser.get("/sign-in")
    assert browser.send("/sign-in", token=served.token["ana"], after="/budget").headers["location"] == "/budget"
    browser.get("/")
    browser.send("/sign-out")
    browser.get("/sign-in")
    reply = browser.send("/sign-in", token=served.token["ana"])
    cookies = reply.headers.get_list("set-cookie")
    assert reply.headers["location"] == "/"
    assert all("HttpOnly" in one and "SameSite=strict" in one and "Path=/" in one for one in cookies)
    assert served.token["ana"] not in "".join(cookies)
    assert "ana" in browser.get("/").text
    kept = dict(browser.client.cookies)
    browser.send("/sign-out")
    assert browser.client.get("/").status_code == 303
    again = browse()
    again.client.cookies.update(kept)  # whoever had copied it
    assert again.client.get("/").headers["location"] == "/sign-in"


@pytest.mark.parametrize("token", ["ana." + "x" * 43, "nobody." + "x" * 43, "xqz", "é" * 600])
def test_a_wrong_token_signs_in_to_nothing(token: str, browse: Browse) -> None:
    browser = browse()
    browser.get("/sign-in")
    reply = browser.send("/sign-in", token=token)
    assert reply.status_code == 401
    assert token not in reply.text
    assert browser.client.get("/").status_code == 303


def test_without_cookies_it_says_so(browse: Browse, served: Served) -> None:
    browser = browse()
    browser.get("/sign-in")
    browser.client.cookies.clear()
    assert "did not send back the cookie" in browser.post("/sign-in", 403, token=served.token["ana"]).text


def test_elsewhere_than_on_this_machine_cookies_need_tls(browse: Browse) -> None:
    reply = browse().client.get("/sign-in", headers={"host": "dp.clinic.example"})
    cookie = reply.headers["set-cookie"]
    assert cookie.startswith("__Host-dpcurator-visit=")
    assert "Secure" in cookie


def test_a_revoked_and_a_replaced_token_end_sessions_at_the_next_request(browse: Browse, served: Served) -> None:
    steward = browse("stu")
    steward.get("/people")
    shown = steward.post("/people", name="joe", role="analyst", limit="0.5", do="add").text
    token = re.search(r"joe\.[A-Za-z0-9_-]{43}", shown)
    assert token is not None
    joe = browse().sign_in(token[0])
    assert "0.5 left of your epsilon 0.5" in joe.get("/").text
    steward.post("/people", name="joe", limit="0.4", do="limit")
    assert "0.4 left" in joe.get("/").text
    new = re.search(r"joe\.[A-Za-z0-9_-]{43}", steward.post("/people", name="joe", do="rotate", limit="7").text)
    assert new is not None
    assert joe.client.get("/").status_code == 303
    joe = browse().sign_in(new[0])
    assert "0.4 left" in joe.get("/").text  # what another button says is not taken
    assert "signs in no more" in steward.post("/people", name="joe", do="revoke").text
    assert joe.client.get("/").status_code == 303
    assert joe.send("/ask", sql=COUNT, spend="1%").headers["location"] == "/sign-in"
    assert "there is an account joe" in steward.post("/people", name="joe", do="add").text.lower()


# Forms

def test_a_form_of_another_site_does_nothing(browse: Browse, served: Served) -> None:
    ana, other = browse("ana"), browse("bob").form
    before = served.client("ana").get("/v1/budget").json()["mine"]["spent"]
    here = {"sec-fetch-site": "same-origin"}
    for headers, form in (
        (here, ""), (here, other), ({"sec-fetch-site": "cross-site"}, ana.form), ({"sec-fetch-site": "none"}, ana.form),
        ({"sec-fetch-site": "same-site"}, ana.form), ({"origin": "http://evil.example"}, ana.form),
        ({"origin": "null"}, ana.form), ({"origin": "http://[x"}, ana.form),
        ({"origin": served.url.replace("http:", "https:") + "1"}, ana.form),
    ):
        forged = Browser(ana.client, form, headers)
        reply = forged.send("/ask", sql=COUNT, amount="0.5", currency="epsilon")
        assert reply.status_code == 403, headers
        assert "not of a page that you have open" in forged.shown(reply).text
    assert served.client("ana").get("/v1/budget").json()["mine"]["spent"] == before


def test_a_form_of_this_site_is_taken_from_a_browser_that_says_only_its_origin(browse: Browse, served: Served) -> None:
    ana = browse("ana")
    ana.headers = {"origin": served.url}
    assert "left after it" in ana.post("/ask/check", sql=COUNT).text


@pytest.mark.parametrize("body", [b"\xff=\xff", b"a=1&" * 200, b"", b"form=%FF"])
def test_what_is_no_form_is_told(body: bytes, browse: Browse) -> None:
    reply = browse("ana").client.post("/ask", content=body, headers={"sec-fetch-site": "same-origin"})
    assert reply.status_code in (400, 403)


# Asking

def test_asked_without_a_script_the_answer_is_the_servers(browse: Browse, served: Served) -> None:
    ana = browse("ana")
    told = ana.post("/ask", do="check", sql=COUNT.replace(" FROM", "\r\nFROM"))
    assert "How exact should it be" in told.text
    assert "5%" in told.text
    assert "Made up" in ana.post("/ask", do="rehearse", sql=COUNT, spend="5%").text
    shown = ana.post("/ask", do="ask", sql=COUNT, amount="0.021", currency="epsilon")
    kept = served.client("ana").get("/v1/answers").json()[0]
    assert kept["epsilon"] == "0.021"
    answer = served.client("ana").get(f"/v1/answers/{kept['request']}").json()[0]
    for row in answer["rows"]:
        assert row[0]["value"] in shown.text
    name = f"/answers/{kept['request']}"
    assert name in shown.links
    page = ana.get(name)
    asked = re.search(r'name="sql" value="([^"]*)"', ana.client.get(name).text)
    assert asked is not None
    assert "GROUP BY city" in page.text
    assert "How exact" in ana.post("/ask", do="check", sql=unescape(asked[1])).text  # something like it
    csv = ana.client.get(f"{name}/1/csv")
    assert csv.headers["content-disposition"].startswith("attachment")
    values = [str(row[1]["value"]) for row in answer["rows"]]
    assert [line.split(",")[1] for line in csv.text.splitlines()[1:]] == values
    assert ana.client.get(f"{name}/1/json").json() == answer
    receipt = ana.client.get(f"{name}/1/receipt")
    assert receipt.json() == answer["receipt"]
    assert "The receipt holds" in browse().get("/verify").text + browse_verify(browse(), receipt.text)
    assert kept["request"] in "".join(ana.get("/answers").links)
    for other in ("/1/pdf", "/2/csv", "/0/csv", "/x/csv"):
        assert ana.client.get(f"{name}{other}").status_code == 404
    assert browse("bob").client.get(name).status_code == 400  # nobody else's
    assert browse("aud").client.get(f"{name}/1/json").status_code == 400


def test_a_question_of_the_page_takes_its_turn_and_its_tick_as_any_other(browse: Browse, monkeypatch: Any) -> None:
    from dpcurator.server.limits import Work

    turns: list[tuple[str, str]] = []

    def noting(name: str, own: Any) -> Any:
        return lambda self, work, whose="": turns.append((name, whose)) or own(self, work, whose)

    for name in ("free", "paid"):
        monkeypatch.setattr(Work, name, noting(name, getattr(Work, name)))
    browse("ana").send("/ask/rehearse", sql=COUNT, spend="1%")
    assert set(turns) == {("free", "ana")}
    browse("ana").send("/ask", sql=COUNT, spend="1%")
    assert ("paid", "ana") in turns


def browse_verify(browser: Browser, text: str) -> str:
    browser.get("/verify")
    return browser.post("/verify", receipt=text).text


def test_a_changed_receipt_does_not_hold_and_what_is_none_says_so(browse: Browse, served: Served) -> None:
    said = served.ask("ana", epsilon="0.022").json()
    assert "The receipt holds" in browse_verify(browse(), json.dumps(said))
    said["receipt"]["epsilon"] = "1/3"
    assert "does NOT hold" in browse_verify(browse(), json.dumps(said))
    browser = browse("ana")
    browser.get("/verify")
    for text in ("", "{", "[1]", '{"a": 1, "a": 2}', "<script>alert(1)</script>"):
        reply = browser.send("/verify", receipt=text)
        assert reply.status_code in (200, 400)
        assert "holds" not in browser.shown(reply).text.replace("does NOT hold", "")


def test_an_answer_of_numbers_that_were_paid_before_can_be_kept(browse: Browse, served: Served) -> None:
    """It is in no ledger, so the files are in the page."""
    sql = "SELECT city, COUNT(*) AS n FROM visits WHERE age > 30 GROUP BY city"
    served.ask("bob", sql=sql, epsilon="0.5")
    bob = browse("bob")
    shown = bob.post("/ask", sql=sql, amount="0.1", currency="epsilon")
    assert "made of numbers that were paid for before" in shown.text
    files = [unquote(link) for link in shown.links if link.startswith("data:")]
    kinds = ["data:text/csv;charset=utf-8", "data:application/json", "data:application/json"]
    assert [one.partition(",")[0] for one in files] == kinds
    receipt = json.loads(files[2].partition(",")[2])
    assert served.curator().verify(receipt).holds
    assert json.loads(files[1].partition(",")[2])["receipt"] == receipt


def test_a_refusal_is_shown_at_its_place_with_its_cure(browse: Browse) -> None:
    ana = browse("ana")
    reply = ana.client.post("/ask/check", data={"form": ana.form, "sql": "SELECT AVG(age),\r\n AVG(agee) FROM visits"},
                            headers={"sec-fetch-site": "same-origin", "hx-request": "true"})
    assert reply.status_code == 200  # it was checked
    assert 'data-start="22" data-end="26"' in reply.text
    assert "<mark>agee</mark>" in reply.text
    assert 'data-put="SELECT AVG(age),\n AVG(age) FROM visits"' in reply.text
    assert "<html" not in reply.text


def test_over_the_limit_nothing_is_charged_and_the_offers_say_so(browse: Browse, served: Served) -> None:
    served.client("stu").post("/v1/users/bob", json={"limit": "30"})
    bob, before = browse("bob"), served.client("bob").get("/v1/budget").json()["mine"]["spent"]
    told = bob.post("/ask/check", sql=COUNT).text
    assert "over your limit" in told
    assert re.search(r"2% 20 ±[0-9.,]+ [0-9.]+ 5% 50 ±[0-9.,]+ over your limit", told)
    assert "short by" in bob.post("/ask", sql=COUNT, spend="50%").text
    assert served.client("bob").get("/v1/budget").json()["mine"]["spent"] == before


def test_why_a_price_buys_an_error_is_told_step_by_step(browse: Browse, served: Served) -> None:
    ana = browse("ana")
    told = ana.send("/ask/why", sql=COUNT, spend="1%")
    why = served.client("ana").post("/v1/explain", json={"sql": COUNT, "spend": "1%"}).json()
    assert (told.text, told.headers["content-type"]) == (why["text"], "text/plain; charset=utf-8")
    assert "no column" in ana.send("/ask/why", sql="SELECT AVG(agee) FROM visits", spend="1%").text


PALETTE = re.compile(r"--([a-z-]+): (#[0-9a-f]{6})")


def test_words_stand_out_from_their_ground_by_day_and_by_night() -> None:
    """Contrast of at least 4.5 to 1, and of 3 to 1 for lines that carry meaning (WCAG 2.2, 1.4.3 and 1.4.11)."""
    css = (HERE / "static" / "page.css").read_text()
    day = dict(PALETTE.findall(css.split("prefers-color-scheme: dark")[0]))
    night = dict(PALETTE.findall(css.split("prefers-color-scheme: dark")[1].split("* {")[0]))
    for colours in (day, night):
        assert len(colours) == 14
        for ink, ground in (("ink", "ground"), ("ink", "paper"), ("soft", "ground"), ("soft", "paper"),
                            ("deep", "paper"), ("deep", "ground"), ("deep-ink", "deep"), ("ink", "mark"),
                            ("ink", "bad-ground"), ("ink", "good-ground"), ("soft", "bad-ground")):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
        for line in ("soft", "bad", "good", "reach", "deep"):
            assert contrast(colours[line], colours["paper"]) >= 3, line


def contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        parts = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
        r, g, b = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def test_a_session_that_ended_while_typing_leads_to_the_sign_in(browse: Browse) -> None:
    browser = browse()
    browser.get("/sign-in")
    reply = browser.client.post("/ask/check", data={"form": browser.form, "sql": COUNT},
                                headers={"sec-fetch-site": "same-origin", "hx-request": "true"})
    assert (reply.status_code, reply.headers["hx-redirect"]) == (200, "/sign-in")


# The steward

def test_the_steward_reads_the_data_again_and_sees_the_report(browse: Browse) -> None:
    steward = browse("stu")
    assert "Ready" in steward.get("/data").text
    report = steward.post("/data/refresh", version="new-one").text
    assert "these counts are private" in report
    assert "nothing was read" in steward.post("/data/refresh", version="new-one").text
    assert "1 to 80 letters" in steward.post("/data/refresh", version="/").text
    assert "It was not closed" in steward.post("/data/reopen").text
    assert "The ledger holds" in steward.post("/log/recompute").text


def test_while_data_is_read_the_page_goes_on(browse: Browse, monkeypatch: Any) -> None:
    from dpcurator.curator import opening
    from dpcurator.errors import Misconfigured

    def refresh(declaration: Any, progress: Any, name: Any) -> Any:
        progress("<b>visits", 1234, 0.5)
        time.sleep(0.5)
        raise Misconfigured("the source is gone.", where="visits.csv", cure="Put it back.")

    steward = browse("stu")
    monkeypatch.setattr(opening, "refresh_all", refresh)
    told = steward.post("/data/refresh").text
    assert "<b>visits: 1,234 rows, 50 % the source is gone. visits.csv Put it back." in told


def test_after_a_fault_the_steward_takes_questions_again(browse: Browse, served: Served, monkeypatch: Any) -> None:
    from dpcurator.engines import stored_engine

    ana, steward = browse("ana"), browse("stu")
    monkeypatch.setattr(stored_engine(), "evaluate", lambda *_: 1 / 0)
    sql = "SELECT COUNT(*) AS n FROM visits WHERE age > 44"
    assert "The question could not be completed" in ana.post("/ask", sql=sql, amount="0.1", currency="epsilon").text
    assert "Closed after a fault" in ana.get("/").text
    monkeypatch.undo()
    assert "Closed after a fault" in steward.get("/data").text
    assert "Questions are taken again" in steward.post("/data/reopen").text
    shown = ana.post("/ask", sql=sql, amount="0.1", currency="epsilon")
    assert "spent" in shown.text
    assert "Closed after a fault" not in shown.text


def test_of_a_batch_every_answer_is_on_its_page(browse: Browse, served: Served) -> None:
    questions = [f"SELECT COUNT(*) AS n FROM visits WHERE age > {age}" for age in (51, 52)]
    with served.client("bob") as client:
        said = client.post("/v1/batch", json={"questions": questions, "epsilon": "0.1"}).json()
    name = said[0]["receipt"]["request"]
    bob = browse("bob")
    assert [link for link in bob.get(f"/answers/{name}").links if "receipt" in link] == [
        f"/answers/{name}/{number}/receipt" for number in (1, 2)
    ]
    assert bob.client.get(f"/answers/{name}/2/receipt").json() == said[1]["receipt"]


def test_the_budget_is_ones_own_and_all_of_it_for_the_steward(browse: Browse, served: Served) -> None:
    served.ask("ana", epsilon="0.023")
    own, whole = browse("ana").get("/budget").text, browse("stu").get("/budget").text
    assert "By analyst" in whole
    assert "ana" in whole
    assert "By analyst" not in own
    assert "bob" not in own


# Nothing unescaped, nothing from elsewhere

HOSTILE = '"><script>alert(1)</script>\' onmouseover=alert(1) {{7*7}} ${7*7} &amp; \u202e'


def test_hostile_names_keys_and_questions_are_text(tmp_path: Path) -> None:
    """XSS: names of tables and columns, keys and everything that an analyst sends."""
    name = json.dumps(HOSTILE)
    (tmp_path / "rows.csv").write_text("who,kind,much\na,x,1\nb,y,2\n")
    place, tokens = clinic(tmp_path)
    place.write_text(
        '[curator]\nprotects = "people <b>"\n[ledger]\nepsilon = 1000\n[tables.t]\nfile = "rows.csv"\nunit = "who"\n'
        'max_rows = 1\nmax_groups = 1\n[tables.t.columns]\nwho = "text"\n'
        'much = { type = "integer", bounds = [0, 9] }\n'
        f'kind = {{ type = "text", keys = ["x", {name}] }}\n'
    )
    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import open_curator, refresh_all
    from dpcurator.ledger.accounts import new_token
    from dpcurator.server.access import Access
    from dpcurator.server.application import application

    for old in (load(place).state).iterdir():
        if old.is_file():
            old.unlink()
    refresh_all(load(place))
    open_curator(place).ledger.grant("ana", role="steward", token=(token := new_token("ana")))
    served = Served("", place, tokens)
    served.url, stop = run(application(place, access=Access(0.0), log=served.lines.append))
    try:
        ana = Browser(served.client()).sign_in(token)
        titled = '"' + HOSTILE.replace('"', '""') + '"'
        sql = f"SELECT kind, COUNT(*) AS {titled} FROM t GROUP BY kind"
        for path in ("/", "/tables", "/budget", "/log", "/data", "/people", "/answers", "/verify"):
            ana.get(path)
        ana.post("/ask", do="check", sql=HOSTILE)
        ana.post("/ask", do="check", sql=sql)
        ana.post("/ask", do="rehearse", sql=sql, spend="5%")
        shown = ana.post("/ask", do="ask", sql=sql, spend="5%")
        assert "<script>alert(1)</script>" in shown.text  # as text
        for path in (*[link for link in shown.links if link.count("/") == 2 and "answers" in link], "/answers", "/log"):
            assert "alert(1)" in ana.get(path).text
        ana.post("/verify", receipt=json.dumps({"format": HOSTILE, HOSTILE: 1}))
        ana.post("/people", name=HOSTILE, do="add", role=HOSTILE, limit=HOSTILE)
        ana.post("/data/refresh", version=HOSTILE)
        ana.post("/ask", do="ask", sql=sql, amount=HOSTILE, currency="epsilon")
        assert ana.client.get(f"/answers/{HOSTILE.replace('/', '')}").status_code == 400
        assert ana.client.get("/static/..%2f..%2fpages.py").status_code == 404
    finally:
        served.close()
        stop()


def test_no_template_writes_unescaped_or_loads_from_elsewhere() -> None:
    for path in sorted(HERE.rglob("*")):
        if path.suffix in (".html", ".py", ".css") or path.name == "page.js":
            text = path.read_text()
            assert not re.search(r"\|\s*safe|Markup|autoescape[ =]*(false|False)|innerHTML\s*=|outerHTML|insertAdjacent"
                                 r"|document\.write|eval\(|javascript:", text), path
            assert not re.search(r"""(src|href|url|action)\s*[=(]\s*["']?(https?:)?//""", text), path
    page = (HERE / "templates" / "base.html").read_text()
    assert page.count("<script ") == 2
    assert not re.search(r"<style|\sstyle=|\son\w+=", "".join(p.read_text() for p in HERE.glob("templates/*.html")))


def test_the_vendored_script_is_the_pinned_one_with_its_licence() -> None:
    static = HERE / "static"
    told = json.loads((static / "vendored.json").read_text())
    own = {"page.js", "page.css", "icon.svg", "vendored.json"}
    named = {*told, *(one["text"] for one in told.values())}
    assert {path.name for path in static.iterdir()} - own == named
    for name, one in told.items():
        assert sha256((static / name).read_bytes()).hexdigest() == one["sha256"], name
        assert one["version"] in (static / name).read_text()
        assert (static / one["text"]).read_text()


def test_a_cold_page_is_small_and_its_files_are_kept(browse: Browse) -> None:
    """Less than 300 KB without charts, and less than 1.2 MB with them (here they are SVG, made by the server)."""
    ana = browse("ana")
    first = len(ana.client.get("/").content)
    files = [ana.client.get(asset(name)) for name in ("htmx.min.js", "page.js", "page.css", "icon.svg")]
    assert first + sum(len(one.content) for one in files) < 120_000
    assert all("immutable" in one.headers["cache-control"] for one in files)
    assert len(ana.post("/ask", do="rehearse", sql=COUNT, spend="5%").text) < 60_000
    assert ana.client.get("/").headers["cache-control"] == "no-store"
    assert ana.client.get("/static/page.css").status_code == 404
    assert ana.client.get("/v1/nowhere").headers["content-security-policy"].startswith("default-src 'none'; frame")


def test_what_fails_unforeseen_is_told_without_its_words(browse: Browse, monkeypatch: Any, served: Served) -> None:
    ana = browse("ana")
    monkeypatch.setattr(pages, "tables_of", lambda told: {}["secret words"])
    reply = ana.client.get("/tables")
    assert reply.status_code == 503
    assert "secret words" not in reply.text + "".join(served.lines)
    assert any('"route": "/tables"' in line for line in served.lines)


KINDS = {
    "rho": ('[ledger]\nrho = 1\ndelta = 1e-6\n', 'unit = "who"\nmax_rows = 1\nmax_groups = 1\n', 'kind = "text"\n'),
    "unknown keys": ('[ledger]\nepsilon = 1\ndelta = 1e-6\n', 'unit = "who"\nmax_rows = 1\nmax_groups = 1\n',
                     'kind = { type = "text", keys = "unknown" }\n'),
    "each row": ('[ledger]\nepsilon = 1\n', 'unit = "each row"\n', 'kind = { type = "text", keys = ["x", "y"] }\n'),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_other_kinds_of_catalogs(kind: str, tmp_path: Path) -> None:
    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import key_of, ledger_of, refresh_all
    from dpcurator.ledger.accounts import new_token
    from dpcurator.server.access import Access
    from dpcurator.server.application import application

    (tmp_path / "rows.csv").write_text("who,kind,much\n" + "".join(f"p{n},{'xy'[n % 2]},{n % 9}\n" for n in range(900)))
    ledger, table, column = KINDS[kind]
    place = tmp_path / "curator.toml"
    place.write_text(f'[curator]\nprotects = "people"\nsalt = "{"0f" * 16}"\n{ledger}[tables.t]\n'
                     f'file = "rows.csv"\n{table}[tables.t.columns]\nwho = "text"\n'
                     f'much = {{ type = "integer", bounds = [0, 9] }}\n{column}')
    declared = load(place)
    refresh_all(declared)
    token = new_token("ana")
    ledger_of(declared, key_of(declared)).grant("ana", role="steward", token=token)
    served = Served("", place, {})
    served.url, stop = run(application(place, access=Access(0.0), log=served.lines.append))
    try:
        ana = Browser(served.client()).sign_in(token)
        assert "Ready" in ana.get("/data").text
        for path in ("/", "/tables", "/budget", "/answers", "/people", "/log"):
            ana.get(path)
        sql = "SELECT COUNT(*) AS n FROM t" if kind == "rho" else "SELECT kind, COUNT(*) AS n FROM t GROUP BY kind"
        told = ana.post("/ask", do="check", sql=sql).text
        assert ("groups shown from" in told) == (kind == "unknown keys")
        assert "Made up" in ana.post("/ask", do="rehearse", sql=sql, spend="20%").text
        shown = ana.post("/ask", do="ask", sql=sql, spend="20%")
        assert "spent" in shown.text
        assert len([link for link in shown.links if link.startswith("/answers/")]) == 4
        own = ana.get("/budget").text
        assert "20.0 % spent in 1 charge" in own
        assert ("delta:" in own) == (kind != "each row")
        assert "0.2" in ana.get("/answers").text
        assert "0.2" in ana.get("/log").text
    finally:
        served.close()
        stop()


@pytest.mark.slow
def test_the_wheel_has_what_the_page_is_made_of(tmp_path: Path) -> None:
    root = HERE.parents[3]
    done = subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(root)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    named = set(zipfile.ZipFile(wheel).namelist())
    for path in HERE.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert f"dpcurator/server/page/{path.relative_to(HERE).as_posix()}" in named


# Pictures and words

@pytest.mark.parametrize(("first", "last"), [(0, 1), (-3.7, 12), (0, 3e9), (-1e-6, 1e-6), (0, 41), (-110, 0)])
def test_ticks_are_few_round_numbers_within(first: float, last: float) -> None:
    found = ticks(first, last)
    assert 2 <= len(found) <= 5
    assert all(first <= tick <= last for tick in found)
    assert first > 0 or last < 0 or 0 in found


def test_bars_lie_within_the_picture_in_the_order_of_their_values(served: Served) -> None:
    answer = served.remote("ana").rehearse(COUNT, epsilon="0.001")
    (chart,) = bars_of(answer)
    for bar, (key, value) in zip(chart.rows, answer.rows, strict=True):
        assert bar.name == key
        assert 0 <= bar.low <= bar.high <= 100
        assert 0 <= bar.start <= bar.start + bar.width <= 100
        assert bar.start == pytest.approx(chart.zero) if value > 0 else bar.start <= chart.zero
    wide = {value: bar.width for bar, (_, value) in zip(chart.rows, answer.rows, strict=True)}
    assert [wide[value] for value in sorted(wide, key=abs)] == sorted(wide.values())


def test_what_was_spent_is_a_line_down_from_the_limit() -> None:
    charges = [("2026-01-01T00:00:00Z", Fraction("0.25")), ("2026-01-02T00:00:00Z", Fraction("0.25"))]
    found = spending(charges, Fraction(2), Fraction(1))  # 0.5 before these
    assert found is not None
    assert found.line.startswith("M0 75.0H0.0V62.5H")
    assert found.line.endswith("V50.0H1000")
    assert (found.part, found.charges) == (50.0, 2)
    assert spending([], Fraction(1), Fraction(0)) is None
    assert spending(charges, Fraction(0), Fraction(1)) is None
    assert share("0.333...", "1") == "33.3"
    assert share("0", "0") == "0"


SQL = "SELECT city,\n AVG(agee) AS a\nFROM visits"


@pytest.mark.parametrize(("where", "over", "words", "start"), [
    ("line 2, column 6", "agee", "agee", 18), ("line 2, column 6", "", "agee", 18), ("line 2, column 5", "", "(", 17),
    ("line 3", "", "FROM visits", 29), ("line 3", "visits", "visits", 34),
])
def test_an_error_is_pointed_at(where: str, over: str, words: str, start: int) -> None:
    problem = {"where": where, "mends": [{"put": "age", "over": over, "to": "words"}] if over else []}
    found = place_of(problem, SQL)
    assert found is not None
    assert (found["words"], found["start"], SQL[found["start"]:found["end"]]) == (words, start, words)


@pytest.mark.parametrize("where", ["", "line 9", "line 2, column 99", "line 0", "--epsilon", "curator.toml:3"])
def test_a_place_that_is_not_in_the_question_is_none(where: str) -> None:
    assert place_of({"where": where}, SQL) is None


def test_a_cure_is_put_where_it_belongs() -> None:
    sql = "SELECT AGE, age FROM visits"
    for mend, found in (
        ({"put": "x", "over": "age", "to": "words"}, "SELECT AGE, x FROM visits"),
        ({"put": "x", "over": "age", "to": "all words"}, "SELECT x, x FROM visits"),
        ({"put": "SELECT 1", "over": "", "to": "question"}, "SELECT 1"),
        ({"put": "\\1", "over": "from  visits", "to": "words"}, "SELECT AGE, age \\1"),
    ):
        assert mends_of({"where": "line 1, column 13", "mends": [mend]}, sql) == [(mend["put"], found)]
    for mend in ({"put": "x", "over": "nope", "to": "words"}, {"put": "x", "over": "[a]", "to": "catalog"}):
        assert mends_of({"where": "", "mends": [mend]}, sql) == []
