"""A curator at a distance answers as one that is here; retries are safe, and a changed answer is found."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from fractions import Fraction
from typing import Any

import httpx
import pytest

import dpcurator as dp
from dpcurator.cli.verify import verify_content
from dpcurator.client.connection import TRIES, amount
from dpcurator.client.remote import Remote
from dpcurator.errors import Misconfigured
from dpcurator.numbers import decimal_text
from dpcurator.receipts.reply import ONCE, SIGNED, Exchange

from .conftest import COUNT, Served

FRAME_SQL = "SELECT city, COUNT(*) AS n, AVG(age) AS a FROM visits WHERE age >= 18 GROUP BY city"


def framed(curator: Any) -> Any:
    frame = curator.table("visits").where(dp.col("age") >= 18).group_by("city")
    return frame.agg(n=dp.count(), a=dp.mean("age"))


def test_the_same_question_has_the_same_answer_here_and_there(served: Served) -> None:
    remote, here = served.remote("ana"), served.curator()
    there = remote.ask(COUNT, epsilon="0.02")
    near = here.ask(COUNT, epsilon="0.02", analyst="ana")
    assert (there.rows, there.receipt, there.cells, there.confidence) == (
        near.rows, near.receipt, near.cells, near.confidence
    )
    assert (there.cost, there.total, there["n"], there.interval("n")) == (
        Fraction(1, 50), 1000, near["n"], near.interval("n")
    )
    assert str(there).splitlines()[:3] == str(near).splitlines()[:3]
    assert list(there.to_pandas().columns) == list(near.to_pandas().columns)
    assert remote.recall(there.receipt_id)[0].rows == there.rows
    assert remote.receipt(there.receipt_id) == there.receipt


def test_an_amount_without_an_end_is_printed_as_it_was(served: Served) -> None:
    remote, here = served.remote("ana"), served.curator()
    asked = "SELECT COUNT(*) AS n FROM visits WHERE age > 77"
    found = [remote.ask(asked, epsilon="1/70"), remote.bounds("visits.age", epsilon="1/30").answer]
    for answer in found:
        (stored,) = here.recall(answer.receipt_id, analyst="ana")
        told = answer.as_json()
        assert (told["cost"][-3:], told["cost"]) == ("...", stored.as_json()["cost"])
        assert told["left"].endswith("...")
        assert f"(left {told['left']})" in str(answer)
    for top, bottom in (1, 3), (10**39, 7), (7, 3 * 10**200), (2, 3 * 10**300), (10**7, 3), (3, 7 * 10**12), (1, 7**9):
        value = Fraction(top, bottom)
        assert decimal_text(amount(decimal_text(value))) == decimal_text(value)


def test_a_mean_of_releases_comes_over_the_line_and_is_checked(served: Served) -> None:
    """At two prices; its totals too. With the key, a mean that names a release twice, of another question, or with a
    changed receipt is not taken; without its own words it is no reply."""
    asked, here = "SELECT city, COUNT(*) AS n FROM visits WHERE age > 71 GROUP BY city", served.curator()
    remote = served.remote("ana", key=here.key.public)
    first = remote.ask(asked, epsilon="0.01")
    before = here.budget().spent
    mean = remote.ask(asked, epsilon="0.02", sharpen=True)
    assert here.budget().spent - before == mean.cost == Fraction(1, 50)
    assert (len(mean.sharpened), mean.sharpened[0]) == (2, first.receipt)
    assert "the mean of 2 releases at epsilon 0.01 and 0.02, weighted by inverse variance" in str(mean)
    assert dp.verify(mean.sharpened[1], catalog=here.catalog, ledger=here.ledger).holds
    total = mean.totals("n", by=[])
    assert total["n"][0] == pytest.approx(sum(mean["n"]), abs=3)
    assert here.budget().spent - before == mean.cost
    told = json.loads(json.dumps(mean.as_json()))
    beside = {"catalog": here.catalog, "ledger": here.ledger}
    assert verify_content(told, json.dumps(told).encode(), None, here.key.public, **beside).holds
    one, other = told["sharpened"]
    wrong = [told | {"sharpened": [one, one]}, told | {"sharpened": [one, other | {"epsilon": "3"}]},
             told | {"sharpened": [one]}, told | {"receipt": one}]
    foreign = remote.ask("SELECT COUNT(*) AS n FROM visits WHERE age > 72", epsilon="0.01").receipt
    for lie in (*wrong, told | {"sharpened": [one, foreign]}, told | {"sharpened": [one, 3]}, told | {"sharpened": 7}):
        with pytest.raises(Misconfigured):
            remote._answer(lie, sharpened=True)
    public = remote.ask("SELECT city FROM visits GROUP BY city", epsilon="0.01").receipt
    renamed = remote.ask(asked.replace(" AS n", " AS m"), epsilon="0.01").receipt
    assert renamed["format"] != public["format"] != one["format"] != renamed["format"]
    for form in (public, renamed):
        with pytest.raises(Misconfigured):
            remote._answer(told | {"sharpened": [form]}, sharpened=True)
    for asked_for, lie in (False, told), (True, json.loads(json.dumps(remote.ask(asked, epsilon="0.01").as_json()))):
        assert remote._answer(lie, sharpened=not asked_for)
        with pytest.raises(Misconfigured):  # of a mean's values there is no receipt
            remote._answer(lie, sharpened=asked_for)
    for odd in ([{}], [one | {"request": "a\x1b[2J", "batch": None}]):
        with pytest.raises(Misconfigured):
            Remote(None, "here", None)._answer(told | {"sharpened": odd}, sharpened=True)


def test_a_frame_is_the_question_of_its_sql(served: Served) -> None:
    remote = served.remote("ana")
    by_sql = remote.ask(FRAME_SQL, epsilon=Fraction(1, 30))
    by_steps = framed(remote).ask(epsilon="1/30")
    assert by_steps.repeated
    assert by_steps.rows == by_sql.rows
    assert "left after" in str(framed(remote).menu())
    with pytest.raises(dp.Refusal, match="catalog is"):
        framed(remote).plan()
    with pytest.raises(dp.Refusal, match="visits"):
        remote.table("visit")


def test_totals_explain_caps_and_rows_per_unit_are_those_of_a_curator(served: Served) -> None:
    here, key = served.curator(), served.curator().key.public
    remote = served.remote("ana", key=key)
    there, near = remote.ask(FRAME_SQL, epsilon="0.07"), here.ask(FRAME_SQL, epsilon="0.07", analyst="ana")
    for names, by in (((), []), (("n",), ["city"])):
        one, other = there.totals(*names, by=by), near.totals(*names, by=by)
        assert (one.cells, one.columns, one.notes, one.cost) == (other.cells, other.columns, other.notes, 0)
        assert str(one).splitlines()[-1] == str(other).splitlines()[-1]
    with pytest.raises(dp.Refusal, match="list of names"):
        there.totals(by="city")
    with pytest.raises(dp.Refusal, match="nope"):
        there.totals("nope", by=[])
    kept = pickle.loads(pickle.dumps(there))
    assert kept == there
    with pytest.raises(dp.Refusal, match="without the noisy numbers"):
        kept.totals(by=[])
    fresh = remote.ask(COUNT, epsilon="0.01", fresh=True)
    assert abs(fresh.totals(by=[]).rows[0][0] - sum(n for _, n in fresh.rows)) <= 1  # each is rounded
    assert remote.caps(COUNT, epsilon="0.1").as_json()["caps"] == here.caps(COUNT, epsilon="0.1").as_json()["caps"]
    assert "grouped by city" in str(remote.explain(COUNT))
    assert "left after" in str(remote.rows_per_unit("visits"))
    counted = remote.rows_per_unit("visits", epsilon="0.05")
    assert counted["counts"] == here.rows_per_unit("visits", epsilon="0.05", analyst="ana").as_json()["counts"]
    assert framed(remote).ask(epsilon="0.07").rows == there.rows
    assert remote.quote(COUNT, within={"n": "5% of 9000"})["error_bars"][0]["error"] <= 450


def test_totals_of_an_answer_of_older_data_are_refused_and_nothing_is_paid(serve: Any) -> None:
    served = serve()
    ana, stu = served.remote("ana"), served.remote("stu")
    answer = ana.ask(COUNT, epsilon="0.01")
    seen: list[Any] = []
    told = stu.refresh(version="two", progress=lambda *one: seen.append(one))
    assert told["report"]["tables"]
    assert served.remote("stu", key=served.curator().key.public).refresh(version="two")["read"] is False
    with pytest.raises(dp.Refusal, match="not stored for the data in force"):
        answer.totals(by=[])
    assert ana.budget()["mine"]["spent"] == "0.01"


def test_a_steward_keeps_the_curator_from_afar(served: Served, monkeypatch: Any) -> None:
    stu = served.remote("stu", key=served.curator().key.public)
    assert stu.check()["ready"]
    made = stu.grant("dee", role="analyst", limit="0.5", token=True)
    assert made["token"].startswith("dee.")
    assert {"dee", "ana"} <= {one["name"] for one in stu.users()}
    assert stu.grant("dee", token=False)["active"] is False
    assert stu.grant("di.e+x@example.org", role="auditor")["name"] == "di.e+x@example.org"
    with pytest.raises(dp.Refusal, match="an account's name"):
        stu.grant("../key")
    first = stu.log()[0]
    assert stu.log(after=1)[0]["position"] == first["position"] + 1
    assert stu.ledger()["holds"]
    assert stu.reopen() is False
    for name in ("check", "reopen", "users", "log", "refresh"):
        with pytest.raises(dp.Misconfigured, match="role analyst"):
            getattr(served.remote("ana"), name)()


def test_what_is_recalled_holds_against_the_key_as_what_was_asked(served: Served) -> None:
    """It is the answer as asked again: what it says that it cost is what its receipt says."""
    remote = served.remote("ana", key=served.curator().key.public)
    asks = [f"SELECT COUNT(*) AS n, SUM(age) AS age FROM visits WHERE age < {age}" for age in (41, 42, 43)]
    batch = remote.batch(asks[1:], epsilon="0.04")
    asked = [remote.ask(asks[0], epsilon="0.025"), *batch]
    for answer in asked:
        again = remote.recall(answer.receipt_id)[0]
        assert (again.rows, again.cost, again.repeated) == (answer.rows, answer.cost, True)
        assert dp.verify(again.receipt, answer=again.as_json()).holds
    assert len(remote.recall(str(batch[0].receipt["request"]))) == 2


def test_what_is_free_is_told_as_here(served: Served) -> None:
    remote, here = served.remote("bob"), served.curator()
    assert str(remote.quote(COUNT, spend="0.1%")) == str(here.quote(COUNT, spend="0.1%", analyst="bob"))
    assert remote.quote(COUNT, within={"n": 50})["epsilon"] == here.quote(COUNT, within={"n": 50}).as_json()["epsilon"]
    assert str(remote.tables) == str(here.tables)
    assert remote.menu(COUNT, max_total=3)["currency"] == "epsilon"
    rehearsed = remote.rehearse(COUNT, epsilon=1)
    assert rehearsed.made_up
    assert rehearsed.receipt is None
    assert remote.menu_batch([COUNT, FRAME_SQL])["menu"]
    assert "epsilon 0.1" in str(remote.quote_batch([COUNT, FRAME_SQL], epsilon="0.1"))
    assert remote.budget()["mine"]["name"] == "bob"


def test_a_batch_and_what_was_asked_before(served: Served) -> None:
    remote = served.remote("bob", key=served.curator().key.public)
    answers = remote.batch([COUNT, FRAME_SQL], epsilon="0.11")
    assert [answer.columns for answer in answers] == [("city", "n"), ("city", "n", "a")]
    assert [one.rows for one in remote.batch([COUNT, FRAME_SQL], epsilon="0.11")] == [one.rows for one in answers]
    assert remote.answers()[0]["request"] == answers[0].receipt["request"]


@pytest.mark.parametrize(("asked", "kind", "words"), [
    ({"question": "SELECT city FROM visits", "epsilon": 1}, dp.Refusal, "row"),
    ({"question": COUNT, "epsilon": 5000}, dp.OverBudget, "short by"),
    ({"question": COUNT}, dp.Refusal, "price"),
    ({"question": COUNT, "epsilon": 0}, dp.Refusal, "above 0"),
])
def test_errors_are_those_of_a_curator(asked: dict[str, Any], kind: Any, words: str, served: Served) -> None:
    asked = dict(asked)
    question = asked.pop("question")
    raised = []
    for curator in (served.remote("ana"), served.curator()):
        with pytest.raises(kind) as error:
            curator.ask(question, **asked)
        raised.append(error.value)
    assert words in str(raised[0])
    assert raised[0].exit_code == raised[1].exit_code
    if kind is not dp.OverBudget:  # there, of the account's own limit
        assert raised[0].as_json() == raised[1].as_json()


def test_who_does_not_sign_in_is_told_so(served: Served) -> None:
    wrong = dp.connect(served.url, token="ana." + "x" * 43)
    with pytest.raises(dp.Misconfigured, match="signs in to no account"):
        wrong.budget()
    wrong.close()
    with pytest.raises(dp.Misconfigured, match="role auditor"):
        served.remote("aud").ask(COUNT, epsilon=1)


@pytest.mark.parametrize(("url", "token", "words"), [
    ("http://dp.example", "t", "in the clear"), ("ftp://dp.example", "t", "not a server's address"),
    ("https://user@dp.example", "t", "not a server's address"), ("dp.example", "t", "not a server's address"),
    ("https://dp.example", "", "no token"), ("http://[::1", "t", "not a server's address"),
    ("https://dp.example:x", "t", "not a server's address"), ("https://dp.example/\x00", "t", "not a server's address"),
    ("https://:pass@dp.example", "t", "not a server's address"),
    ("http://localhost\\.x", "t", "not a server's address"),
    ("https://dp.example", "caf\xe9", "no token"), ("https://dp.example", "a\nb", "no token"),
])
def test_what_is_no_connection_is_refused(url: str, token: str, words: str, monkeypatch: Any) -> None:
    monkeypatch.delenv("DPCURATOR_TOKEN", raising=False)
    with pytest.raises(dp.DpcuratorError, match=words):
        dp.connect(url, token=token)


class Line:
    """What answers in a server's place: each reply in turn, the last one again and again."""

    def __init__(self, *replies: Any, key: Any = None) -> None:
        """key: signs each reply, as the one to the request that it is given to."""
        self.replies, self.seen, self.pauses = list(replies), list[httpx.Request](), list[float]()
        self.key = key

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        status, content, *headers = reply
        text = (content if isinstance(content, str) else json.dumps(content)).encode()
        signed = {} if self.key is None else {SIGNED: Exchange(
            request.headers.get(ONCE, ""), request.headers.get("authorization", "")[7:].rpartition(".")[0],
            request.method, request.url.path, request.content,
            request.headers.get("idempotency-key", ""), status, text,
        ).signed_by(self.key)}
        return httpx.Response(status, content=text, headers=signed | (headers[0] if headers else {}))

    def remote(self, key: str | None = None) -> Remote:
        client = httpx.Client(base_url="https://dp.example", transport=httpx.MockTransport(self))
        return Remote(client, "https://dp.example", key, self.pauses.append)


GONE = httpx.ReadError("connection lost")
BUSY = (503, {"error": "not taken", "what": "busy", "where": "", "cure": "later"}, {"retry-after": "5"})


def sent(served: Served, epsilon: str = "0.05") -> Any:
    return served.ask("ana", epsilon=epsilon).json()


DAMAGED = (200, "cut short", {"content-encoding": "gzip"})  # which no one can unpack


@pytest.mark.parametrize("trouble", [GONE, httpx.ConnectError("refused"), BUSY, (502, "<html>"), DAMAGED])
def test_a_lost_reply_is_asked_for_again_as_the_same_request(trouble: Any, served: Served) -> None:
    line = Line(trouble, trouble, (200, sent(served)))
    answer = line.remote().ask(COUNT, epsilon="0.05", fresh=True)
    assert answer.rows
    keys = {request.headers["idempotency-key"] for request in line.seen}
    assert len(line.seen) == 3
    assert len(keys) == 1
    assert line.pauses == [0.25, 0.5]
    other = Line((200, sent(served)))
    other.remote().ask(COUNT, epsilon="0.05", fresh=True)
    assert other.seen[0].headers["idempotency-key"] not in keys


def test_after_some_tries_it_says_that_nothing_is_paid_twice() -> None:
    for trouble in (GONE, DAMAGED):
        line = Line(trouble)
        with pytest.raises(dp.Misconfigured, match="not paid twice"):
            line.remote().ask(COUNT, epsilon=1)
        assert len(line.seen) == TRIES
        with pytest.raises(dp.Misconfigured, match="no reply any more"):
            line.remote().refresh()
        assert not Line(trouble).remote("ab" * 32).verify({"public_key": "cd" * 32}).holds  # no chain is had
    busy = Line(BUSY)
    with pytest.raises(dp.Misconfigured, match="busy"):
        busy.remote().menu(COUNT)
    assert len(busy.seen) == TRIES


@pytest.mark.parametrize("reply", [
    (200, "<html>"), (200, {}), (200, []), (302, ""), (200, {"rows": 1}), (500, {"error": "fault"}), (400, {}),
    (418, "x"),
    (402, {"error": "over budget", "requested": "x"}), (400, {"error": "refused", "what": "w", "mends": [{"a": 1}]}),
])
def test_whatever_comes_back_is_an_error_of_dpcurators_own(reply: Any) -> None:
    with pytest.raises(dp.DpcuratorError):
        Line(reply).remote().ask(COUNT, epsilon=1)


FORGED = {"cost": "1", "spent": "1", "budget": "1", "currency": "epsilon", "made_up": False, "receipt": None,
          "repeated": False, "columns": ["n"], "shown": ["whole"], "confidence": "0.95", "notes": [],
          "rows": [[{"value": 1, "error": 1.0, "low": 0.0, "high": 2.0}]]}
ASKS: dict[str, Any] = {
    "ask": lambda far: far.ask(COUNT, epsilon=1), "batch": lambda far: far.batch([COUNT], epsilon=1),
    "quote": lambda far: far.quote(COUNT, epsilon=1), "table": lambda far: far.table("visits"),
    "recall": lambda far: far.recall("abcd"), "answers": lambda far: far.answers(),
}


@pytest.mark.parametrize("reply", [
    (200, "[" * 100_000), (200, 5), (200, "null"), (200, '"text"'), (200, "1" * 6000), (200, '{"text": NaN}'),
    (402, {"error": "over budget", "requested": None, "remaining": "1", "currency": "epsilon"}),
    (402, {"error": "over budget", "requested": "1e999999999", "remaining": "1", "currency": "epsilon"}),
    (400, {"error": "refused", "what": "x", "mends": 5}),
], ids=lambda reply: repr(reply)[:60])
def test_whatever_comes_back_to_whatever_was_asked(reply: Any) -> None:
    """Amounts with exponents that would fill the memory, levels without an end, and what is no list or no object."""
    for ask in ASKS.values():
        with pytest.raises(dp.DpcuratorError):
            ask(Line(reply).remote())


@pytest.mark.parametrize("change", [
    {"cost": "1e999999999"}, {"confidence": "1e999999999"}, {"budget": 5}, {"rows": 5}, {"notes": [5]},
    {"rows": [[{"value": 1, "error": "1e999999999", "low": None, "high": None}]]}, {"currency": None},
    {"rows": [[{"value": [], "error": None, "low": None, "high": None}]]}, {"columns": [{}]},
    {"cut": {"over": "1e999999999", "over_error": 1, "units": 1, "units_error": 1, "protects": "p", "reason": "r"}},
])
def test_a_number_that_is_none_is_found_before_it_is_printed(change: Any) -> None:
    assert "n" in str(Line((200, FORGED)).remote().ask(COUNT, epsilon=1))
    with pytest.raises(dp.Misconfigured, match="not a curator's"):
        Line((200, FORGED | change)).remote().ask(COUNT, epsilon=1)
    with pytest.raises(dp.Misconfigured, match="not a curator's"):
        Line((200, {"tables": [{"name": 1, "columns": [], "unit": None}]})).remote().table("visits")


def test_a_batch_has_as_many_answers_as_questions() -> None:
    assert len(Line((200, [FORGED, FORGED])).remote().batch([COUNT, COUNT], epsilon=1)) == 2
    with pytest.raises(dp.Misconfigured, match="not a curator's"):
        Line((200, [FORGED])).remote().batch([COUNT, COUNT], epsilon=1)


@pytest.mark.parametrize(("ask", "words"), [
    (lambda far: far.ask(COUNT, epsilon=float("inf")), "not finite"),
    (lambda far: far.ask("\ud800"), "half a character"),
    (lambda far: far.ask(b"SELECT 1"), "SQL text"), (lambda far: far.batch(COUNT, epsilon=1), "list of questions"),
    (lambda far: far.recall(".."), "printed below"), (lambda far: far.receipt("a/b"), "printed below"),
    (lambda far: far.ask(COUNT, epsilon=1, request_id="caf\xe9\n"), "request id"),
])
def test_what_cannot_be_sent_is_refused_here(ask: Any, words: str) -> None:
    line = Line((200, FORGED))
    with pytest.raises(dp.Refusal, match=words):
        ask(line.remote())
    assert not line.seen


def test_with_the_key_the_answer_of_another_account_is_found(served: Served) -> None:
    """Also where the reply is signed: what a receipt says is looked at for itself."""
    key, of_bob = served.curator().key, served.ask("bob", epsilon="0.05").json()
    for who, holds in (("bob", True), ("ana", False)):
        line = Line((200, of_bob), key=key).remote(key.public)
        line._line.client.headers["Authorization"] = f"Bearer {served.token[who]}"
        if holds:
            assert line.ask(COUNT, epsilon="0.05").rows
            continue
        with pytest.raises(dp.Misconfigured, match="does not hold"):
            line.ask(COUNT, epsilon="0.05")
    with pytest.raises(dp.Refusal, match="no public key"):
        dp.connect("https://dp.example", token="t", key="zz")


def test_with_the_key_a_changed_answer_is_found(served: Served) -> None:
    key, true = served.curator().key, sent(served)
    assert Line((200, true), key=key).remote(key.public).ask(COUNT, epsilon="0.05").rows
    for change in (
        lambda said: said["rows"][0][1].update(value=7), lambda said: said["receipt"].update(epsilon="1/3"),
        lambda said: said.update(receipt=None), lambda said: said["columns"].reverse(),
        lambda said: said["rows"].pop(), lambda said: said.update(confidence="1/2"),
    ):
        said = json.loads(json.dumps(true))
        change(said)
        with pytest.raises(dp.Misconfigured, match="does not hold"):
            Line((200, said), key=key).remote(key.public).ask(COUNT, epsilon="0.05")
        with pytest.raises(dp.Misconfigured, match="not signed"):
            Line((200, said)).remote(key.public).ask(COUNT, epsilon="0.05")
    with pytest.raises(dp.Misconfigured, match="not a curator's"):
        Line((200, true | {"made_up": True}), key=key).remote(key.public).ask(COUNT, epsilon="0.05")


class Between(httpx.HTTPTransport):
    """Stands between a client and its server: gives the reply to the first request to each later one, if told to; or
    changes what is asked, or how the reply begins."""

    def __init__(self, how: str, other: str) -> None:
        super().__init__()
        self.how, self.kept, self.other = how, list[httpx.Response](), f"Bearer {other}"

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self.how == "replays" and self.kept:
            return self.kept[0]
        if self.how == "asks as another":
            request.headers["Authorization"] = self.other
        if self.how == "asks otherwise":
            content = request.content.replace(b"age < 41", b"age < 43")
            request = httpx.Request(request.method, request.url, headers=request.headers, content=content)
        reply = super().handle_request(request)
        reply.read()
        if self.how == "says otherwise":
            reply = httpx.Response(reply.status_code, headers=reply.headers, content=reply.content.replace(b"1", b"2"))
        self.kept.append(reply)
        return reply


@pytest.mark.parametrize("how", ["passes on", "replays", "asks otherwise", "says otherwise", "asks as another"])
def test_with_the_key_no_other_reply_takes_the_place_of_the_one_to_this_request(how: str, served: Served) -> None:
    """A true, signed answer of the same account, to another question or to the same one before, is none to this."""
    question, asked = "SELECT COUNT(*) AS n FROM visits WHERE age < 41", {"epsilon": "0.01"}
    between = Between(how, served.token["bob"])
    with httpx.Client(base_url=served.url, headers={"Authorization": f"Bearer {served.token['ana']}"},
                      transport=between) as client:
        remote = Remote(client, served.url, served.curator().key.public)
        if how == "replays":
            assert remote.ask(question, **asked).rows
        for ask in (lambda: remote.ask(question, **asked), lambda: remote.quote(question, **asked), remote.budget,
                    lambda: remote.tables, lambda: remote.rehearse(question, **asked)):
            if how == "passes on" or (how == "asks otherwise" and ask in (remote.budget,)):
                assert ask()
            elif how != "asks otherwise":
                with pytest.raises(dp.Misconfigured, match=r"not signed|not a curator's"):
                    ask()
        if how == "asks otherwise":
            with pytest.raises(dp.Misconfigured, match="not signed"):
                remote.ask(question, **asked)
        unpinned = Remote(client, served.url, None)
        if how == "asks otherwise":
            assert unpinned.ask(question, **asked).receipt is not None  # without the key there is nothing to see it by


def test_a_client_follows_the_keys_that_follow_its_own_and_no_others(serve: Any) -> None:
    """While the server goes on. A receipt of before holds for a client of the new key; nothing leads to a thief's."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import rotate_key
    from dpcurator.ledger.key_chain import linked
    from dpcurator.ledger.keys import SigningKey

    served = serve()
    first = served.curator().key
    old = served.remote("ana", key=first.public)
    before = old.ask(COUNT, epsilon="0.01")
    link = rotate_key(load(served.place))
    assert old.ask(COUNT, epsilon="0.01").rows == before.rows  # its receipt is of the old key, its reply of the new one
    after = old.ask(COUNT, epsilon="0.02")
    assert after.receipt["public_key"] == link.new
    new = served.remote("ana", key=link.new)
    assert new.ask(COUNT, epsilon="0.01").rows == before.rows
    assert new.verify(before.receipt).holds
    assert served.remote("ana", key=first.public).verify(after.receipt).holds
    told = served.client().get("/v1/key").json()
    assert told == {"public_key": link.new, "chain": [link.as_json()]}
    for receipt in (before.receipt, after.receipt):
        assert served.client().post("/v1/verify", json=receipt).json()["holds"]

    thief = SigningKey(Ed25519PrivateKey.generate())
    mine = linked(link.ledger, 9, "ab" * 32, thief, thief)
    for chain in (
        [mine.as_json() | {"old": first.public}], [link.as_json() | {"new": thief.public}], [link.as_json()], [], "x",
        [link.as_json(), mine.as_json() | {"old": link.new}], [linked("id", 9, "ab" * 32, thief, first).as_json()],
    ):
        def between(request: httpx.Request, chain: Any = chain) -> httpx.Response:
            if request.url.path == "/v1/key":
                return httpx.Response(200, json={"public_key": thief.public, "chain": chain})
            text = json.dumps({"text": "all is well"}).encode()
            signed = Exchange(request.headers[ONCE], "", request.method, request.url.path, request.content, "", 200,
                              text)
            return httpx.Response(200, content=text, headers={SIGNED: signed.signed_by(thief)})

        client = httpx.Client(base_url="https://dp.example", transport=httpx.MockTransport(between))
        with pytest.raises(dp.Misconfigured, match="not signed"):
            Remote(client, "https://dp.example", first.public).budget()
    # Once it has seen a later key it does not go back: who has the old one, stolen since, speaks in vain.
    line = Line((200, {"text": "all is well", "chain": []}), key=first)
    old._line.client.close()
    old._line.client = line.remote()._line.client
    with pytest.raises(dp.Misconfigured, match="not signed"):
        old.budget()
    assert Line((200, {"text": "x"}), key=first).remote(first.public).budget().text == "x"


def test_no_text_of_a_server_reaches_a_terminal_as_a_command() -> None:
    bell = "\x1b]0;owned\x07\x9b31m\u202egnp"
    told = Line((200, {"text": f"two\nlines {bell}", "x": bell})).remote().tables
    assert str(told) == "two\nlines \\x1b]0;owned\\x07\\x9b31m\\u202egnp"
    with pytest.raises(dp.Refusal) as refused:
        Line((400, {"error": "refused", "what": bell, "where": bell, "cure": bell})).remote().menu(COUNT)
    answer = Line((200, FORGED | {"columns": [bell], "notes": [bell]})).remote().ask(COUNT, epsilon=1)
    for text in (str(refused.value), str(answer), repr(answer)):
        assert "gnp" in text
        assert all(letter.isprintable() or letter == "\n" for letter in text)
    for change in ({"currency": bell}, {"cut": {"over": 1, "over_error": 1, "units": 1, "units_error": 1,
                                               "protects": bell, "reason": bell}}):
        with pytest.raises(dp.Misconfigured, match="not a curator's"):
            Line((200, FORGED | change)).remote().ask(COUNT, epsilon=1)


def test_a_client_needs_neither_an_engine_nor_a_server() -> None:
    code = "import sys, dpcurator as dp; dp.connect('https://x.example', token='t'); "
    code += "print([name for name in ('duckdb', 'fastapi', 'uvicorn', 'sqlglot') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
