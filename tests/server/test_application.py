"""The addresses: who may send what, one's own answers and nobody else's, and errors in the shell's words."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from .conftest import COUNT, ROLES, Served, fits, replied

BODIES: dict[str, Any] = {
    "POST /v1/menu": {"sql": COUNT}, "POST /v1/menu/batch": {"questions": [COUNT]},
    "POST /v1/quote": {"sql": COUNT, "spend": "1%"}, "POST /v1/quote/batch": {"questions": [COUNT], "spend": "1%"},
    "POST /v1/rehearse": {"sql": COUNT}, "POST /v1/ask": {"sql": COUNT, "epsilon": "0.01"},
    "POST /v1/batch": {"questions": [COUNT], "epsilon": "0.01"}, "POST /v1/refresh": {"version": "one"},
    "POST /v1/explain": {"sql": COUNT}, "POST /v1/caps": {"sql": COUNT},
    "POST /v1/rows-per-unit/menu": {"table": "visits"},
    "POST /v1/rows-per-unit": {"table": "visits", "epsilon": "0.01"}, "POST /v1/users/{name}": {"limit": 5},
    "POST /v1/reopen": None, "POST /v1/verify": {},
}
ALL, READERS, STEWARD = frozenset(ROLES.values()), frozenset({"steward", "auditor"}), frozenset({"steward"})
ALLOWED: dict[str, frozenset[str]] = {  # None is whoever sends no token
    **dict.fromkeys(("GET /health", "GET /v1/key", "POST /v1/verify", "GET /v1/openapi.json"), ALL | {"nobody"}),
    **dict.fromkeys(("GET /v1/tables", "POST /v1/menu", "POST /v1/menu/batch", "POST /v1/quote", "POST /v1/quote/batch",
                     "POST /v1/rehearse", "POST /v1/explain", "POST /v1/caps", "POST /v1/rows-per-unit/menu",
                     "GET /v1/budget", "GET /v1/answers", "GET /v1/answers/{name}", "GET /v1/receipts/{name}"), ALL),
    **dict.fromkeys(("POST /v1/ask", "POST /v1/batch", "POST /v1/rows-per-unit"), frozenset({"analyst", "steward"})),
    **dict.fromkeys(("GET /v1/log", "GET /v1/ledger"), READERS),
    **dict.fromkeys(("GET /v1/check", "POST /v1/refresh", "POST /v1/reopen", "GET /v1/users", "POST /v1/users/{name}"),
                    STEWARD),
}
WHO = {"analyst": "ana", "auditor": "aud", "steward": "stu", "nobody": None}


def addresses(served: Served) -> set[str]:
    found = served.client().get("/v1/openapi.json").json()["paths"]
    return {f"{method.upper()} {path}" for path, methods in found.items() for method in methods} | {
        "GET /v1/openapi.json"
    }


def test_every_address_has_a_row_in_the_table_of_roles(served: Served) -> None:
    assert addresses(served) == set(ALLOWED)


@pytest.mark.parametrize("who", WHO)
def test_no_role_gets_more_than_the_table_says(who: str, served: Served) -> None:
    name = WHO[who]
    made = served.client().get("/v1/openapi.json").json()
    with served.client(name) as client:
        for address, allowed in ALLOWED.items():
            method, path = address.split()
            target = path.replace("{name}", "dan" if "users" in path else "none")
            reply = client.request(method, target, json=BODIES.get(address))
            denied = 401 if who == "nobody" else 403
            assert (reply.status_code == denied) == (who not in allowed), (address, reply.text)
            assert reply.status_code < 500, (address, reply.text)
            if reply.headers["content-type"] != "application/x-ndjson" and "openapi" not in path:
                assert fits(reply.json(), replied(made, method, path, reply), made), (address, reply.text)
            if reply.status_code == denied:
                assert set(reply.json()) >= {"type", "title", "status", "detail", "what", "cure"}
                assert reply.headers["content-type"] == "application/problem+json"


def test_an_answer_is_the_curators_and_its_receipt_holds(served: Served) -> None:
    said = served.ask("ana", epsilon="0.02").json()
    assert said["columns"] == ["city", "n"]
    assert said["receipt"]["analyst"] == "ana"
    assert served.curator().verify(said["receipt"]).holds
    again = served.ask("ana", epsilon="0.02").json()
    assert (again["rows"], again["repeated"]) == (said["rows"], True)
    checked = served.client().post("/v1/verify", json=said).json()
    assert checked["holds"]
    said["receipt"]["epsilon"] = "1/3"
    assert not served.client().post("/v1/verify", json=said["receipt"]).json()["holds"]


def test_of_a_receipt_of_another_key_nothing_more_is_checked(served: Served, monkeypatch: Any) -> None:
    """Whoever has no token may send any plan, as long as it likes to take, and any guess of what the catalog says."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from dpcurator.ledger.keys import SigningKey, canonical
    from dpcurator.receipts import verification

    said = served.ask("ana", epsilon="0.02").json()
    own = served.client().post("/v1/verify", json=said).json()
    assert own["holds"]
    assert "catalog" in [step["name"] for step in own["steps"]]
    monkeypatch.setattr(verification, "check_plan", lambda _: 1 / 0)  # what is a plan is not looked at
    key = SigningKey(Ed25519PrivateKey.generate())
    forged = said["receipt"] | {"public_key": key.public}
    del forged["signature"]
    forged["signature"] = key.sign(canonical(forged))
    told = served.client().post("/v1/verify", json=forged).json()
    assert [(step["name"], step["holds"]) for step in told["steps"]] == [("form", True), ("signature", False)]


def test_each_account_has_its_own_answers_and_sees_no_others(served: Served) -> None:
    hers, his = served.ask("ana", epsilon="0.03").json(), served.ask("bob", epsilon="0.03").json()
    assert hers["receipt"]["request"] != his["receipt"]["request"]
    name = hers["receipt"]["request"][:12]
    with served.client("ana") as ana, served.client("bob") as bob, served.client("aud") as aud:
        assert ana.get(f"/v1/answers/{name}").json()[0]["rows"] == hers["rows"]
        assert ana.get(f"/v1/receipts/{name}").json() == hers["receipt"]
        for path in (f"/v1/answers/{name}", f"/v1/receipts/{name}"):
            assert bob.get(path).status_code == 400
        assert aud.get(f"/v1/receipts/{name}").json() == hers["receipt"]  # an auditor reads receipts, no answers
        assert aud.get(f"/v1/answers/{name}").status_code == 400
        asked = [one["request"] for one in bob.get("/v1/answers").json()]
        assert his["receipt"]["request"] in asked
        assert hers["receipt"]["request"] not in asked


def test_a_key_names_a_request_within_its_account(served: Served) -> None:
    first = served.ask("ana", key="k", fresh=True).json()
    assert served.ask("ana", key="k", fresh=True).json()["rows"] == first["rows"]
    assert served.ask("bob", key="k", epsilon="0.04").status_code == 200  # hers does not stand in his way
    taken = served.ask("ana", key="k", epsilon="0.05")
    assert taken.status_code == 400
    assert "another question" in taken.json()["what"]


def test_a_batch_is_one_charge(served: Served) -> None:
    with served.client("bob") as client:
        before = client.get("/v1/budget").json()["mine"]["spent"]
        old = "SELECT city, COUNT(*) AS n FROM visits WHERE age > 20 GROUP BY city"
        body = {"questions": [old, "SELECT AVG(age) AS a FROM visits"], "epsilon": "0.06"}
        answers = client.post("/v1/batch", json=body).json()
        assert [one["columns"] for one in answers] == [["city", "n"], ["a"]]
        after = client.get("/v1/budget").json()["mine"]["spent"]
        assert 0 < float(after) - float(before) <= 0.0600001
        assert client.get(f"/v1/answers/{answers[0]['receipt']['request'][:10]}").json() != []


def test_totals_come_with_an_answer_and_cost_nothing(served: Served) -> None:
    body = {"epsilon": "0.055", "totals": [{"by": []}, {"by": ["city"], "columns": ["n"]}]}
    said = served.ask("ana", **body).json()
    rows = [row[1]["value"] for row in said["rows"]]
    assert abs(said["totals"][0]["rows"][0][0]["value"] - sum(rows)) <= 1  # two numbers and their sum, each rounded
    assert [row[1]["value"] for row in said["totals"][1]["rows"]] == rows
    assert all(one["receipt"] is None for one in said["totals"])
    again = served.ask("ana", **body | {"stored": True}).json()
    assert (again["totals"][0]["rows"], again["repeated"]) == (said["totals"][0]["rows"], True)
    before = served.client("ana").get("/v1/budget").json()["mine"]["spent"]
    for wrong, words in (({"totals": [{"by": ["age"]}]}, "age"), ({"totals": [{}]}, "totals.0.by"),
                         ({"stored": True, "sql": "SELECT COUNT(*) AS n FROM visits WHERE age > 77", "totals": None},
                          "not stored"),
                         ({"stored": True, "fresh": True}, "Leave out one of them")):
        refused = served.ask("ana", **body | {"epsilon": "0.056"} | wrong)
        assert (refused.status_code, words in refused.text) == (400, True), refused.text
    assert served.client("ana").get("/v1/budget").json()["mine"]["spent"] == before


def test_what_a_question_does_is_told_without_the_engine(served: Served) -> None:
    found = served.client("bob").post("/v1/explain", json={"sql": f"{COUNT} -- a word of mine"})
    told = found.json()
    assert told["plan"][:2] == ["rows of visits, a unit's by patient_id", "grouped by city (2 listed): 2 keys"]
    assert told["quote"]["epsilon"] == "10"  # 1 % of the budget
    assert told["text"].startswith("plan:\n  rows of visits")
    assert "one unit moves" in told["text"]
    for word in ("CREATE", "CTE", "AS MATERIALIZED", "$1", "of mine"):
        assert word not in found.text
    menu = served.client("bob").post("/v1/caps", json={"sql": COUNT, "epsilon": "0.1"}).json()
    assert [set(one) for one in menu["caps"]] == [{"max_total", "error_bars"}] * len(menu["caps"])
    within = served.client("bob").post("/v1/quote", json={"sql": COUNT, "within": {"n": "5% of 9000"}}).json()
    assert within["error_bars"][0]["error"] <= 450


def test_rows_per_unit_are_paid_as_any_answer(served: Served) -> None:
    with served.client("bob") as bob:
        menu = bob.post("/v1/rows-per-unit/menu", json={"table": "visits"}).json()
        assert menu["sql"].startswith("SELECT")
        body = {"table": "visits", "epsilon": "0.045"}
        told = bob.post("/v1/rows-per-unit", json=body, headers={"Idempotency-Key": "rows"}).json()
        assert told["answer"]["receipt"]["analyst"] == "bob"
        assert [one["rows"] for one in told["counts"]][-1] is None
        again = bob.post("/v1/rows-per-unit", json=body, headers={"Idempotency-Key": "rows"}).json()
        assert (again["counts"], again["answer"]["repeated"]) == (told["counts"], True)
        assert bob.post("/v1/rows-per-unit", json={"table": "vists"}).status_code == 400
        assert bob.post("/v1/rows-per-unit", json={"table": "visits"}).status_code == 400  # no price


def test_a_limit_and_a_revoked_token_hold_from_the_next_request_on(served: Served) -> None:
    with served.client("stu") as stu:
        made = stu.post("/v1/users/eve", json={"limit": "0.05", "token": True}).json()
        assert (made["role"], made["limit"], made["left"]) == ("analyst", "0.05", "0.05")
        served.token["eve"] = made["token"]
        assert served.ask("eve", epsilon="0.05").status_code == 200
        over = served.ask("eve", epsilon="0.06")
        assert over.status_code == 402
        assert over.json() | {"of": "own", "requested": "3/50", "remaining": "0", "short_by": "3/50"} == over.json()
        told = served.client("eve").get("/v1/budget").json()
        assert told["mine"]["left"] == "0"
        assert told["all"]["budget"] == "1000"
        new = stu.post("/v1/users/eve", json={"token": True}).json()["token"]
        assert served.ask("eve").status_code == 401
        served.token["eve"] = new
        assert served.ask("eve", epsilon="0.05").json()["repeated"]
        assert stu.post("/v1/users/eve", json={"token": False}).json()["active"] is False
        assert served.ask("eve", epsilon="0.05").status_code == 401
        assert new not in json.dumps(stu.get("/v1/users").json()) + json.dumps(stu.get("/v1/log").json())


@pytest.mark.parametrize(("body", "status", "words"), [
    ({"sql": "SELECT patient_id FROM visits"}, 400, "single rows"), ({"sql": "SELEC"}, 400, ""),
    ({"sql": "SELECT COUNT(*) FROM vists"}, 400, "visits"), ({"epsilon": "9999"}, 402, "short by"),
    ({"epsilon": True}, 400, "epsilon"), ({"epsilon": "nan"}, 400, "finite"), ({"epslon": "1"}, 400, "epslon"),
    ({"max_total": 2.5}, 400, "max_total"), ({"sql": "x" * 100_001}, 400, "sql"), ({"epsilon": None}, 400, "price"),
    ({"sql": 7}, 400, "sql"), ({"within": {"n": []}}, 400, "within"), ({"epsilon": "1/0"}, 400, ""),
    ({"spend": "1%", "epsilon": "1"}, 400, ""), ({"weights": {"nope": 2}}, 400, "nope"),
])
def test_what_cannot_be_asked_says_why_and_costs_nothing(
    body: dict[str, Any], status: int, words: str, served: Served
) -> None:
    before = served.client("bob").get("/v1/budget").json()["mine"]["spent"]
    reply = served.ask("bob", **body)
    assert reply.status_code == status
    assert words in reply.text
    assert reply.json()["title"] in ("refused", "over budget")
    assert reply.json()["exit_code"] in (2, 3)
    assert served.client("bob").get("/v1/budget").json()["mine"]["spent"] == before


@pytest.mark.parametrize("content", [
    b"", b"{", b"[]", b"\xff\xfe", b'{"sql": "' + b"\\ud800" * 3 + b'"}', b"null", b"1e999", b"[" * 5000,
    b'{"sql": "SELECT 1", "sql": "SELECT 2"}',
])
def test_no_body_breaks_any_address(content: bytes, served: Served) -> None:
    with served.client("stu") as client:
        for address in ALLOWED:
            method, path = address.split()
            if method == "POST" and "refresh" not in path and "reopen" not in path:
                reply = client.post(path.replace("{name}", "zoe"), content=content,
                                    headers={"content-type": "application/json"})
                assert reply.status_code in (200, 400), (address, reply.status_code, reply.text)


@pytest.mark.parametrize("body", [
    {"sql": COUNT, **{str(number): 1 for number in range(60_000)}}, {"sql": COUNT, "k" * 100_000: 1},
    {"sql": COUNT, "within": {str(number): [] for number in range(60_000)}},
])
def test_what_is_wrong_with_a_body_is_told_in_few_words(body: dict[str, Any], served: Served, monkeypatch: Any) -> None:
    """A field may have any name: not one of 60,000 was looked at before they were counted, while all others waited."""
    from fastapi.exceptions import RequestValidationError

    found: list[int] = []
    errors = RequestValidationError.errors
    monkeypatch.setattr(RequestValidationError, "errors", lambda self: found.append(len(errors(self))) or errors(self))
    reply = served.client("ana").post("/v1/quote", json=body)
    assert reply.status_code == 400
    assert len(reply.content) < 2000
    assert found == [1]


def test_no_address_redirects_and_what_fails_has_constant_words(served: Served, monkeypatch: Any) -> None:
    """A redirect goes to http behind a proxy with TLS, and takes the token along."""
    with served.client("ana") as client:
        assert client.get("/v1/tables/").status_code == 404
        assert client.get("/v1/tables?" + "x" * 17_000).status_code == 431
        monkeypatch.setattr("dpcurator.server.application._whose", lambda request: {}["secret words"])
        reply = client.get("/v1/tables")
    assert (reply.status_code, reply.json()["error"]) == (500, "fault")
    assert "secret words" not in reply.text + "".join(served.lines)


def test_a_name_of_a_request_begins_as_no_other(served: Served) -> None:
    """One beginning for all, and a free look for it would walk through everybody's requests."""
    names = {served.ask("ana", epsilon="0.01", key=key, fresh=True).json()["receipt"]["request"] for key in "abcdefgh"}
    assert len({name[:4] for name in names}) == 8


def test_new_data_is_served_without_a_new_start_and_the_report_is_the_stewards(served: Served) -> None:
    with served.client("stu") as client:
        before = served.ask("ana", epsilon="0.07").json()["receipt"]["data_version"]
        lines = client.post("/v1/refresh", json={"version": "two"}).text.splitlines()
        assert json.loads(lines[-1])["report"]["tables"]
        assert served.ask("ana", epsilon="0.07").json()["receipt"]["data_version"] == before + 1
        again = client.post("/v1/refresh", json={"version": "two"})
        assert again.json() == {"version": before + 1, "name": "two", "read": False}
        wrong = client.post("/v1/refresh", json={"version": "/"})
        assert wrong.status_code == 400
        assert "1 to 80 letters" in wrong.json()["what"]


def test_an_analyst_is_not_told_where_the_set_up_is_wrong_and_the_steward_is(served: Served) -> None:
    text = served.place.read_text()
    try:
        served.place.write_text(text.replace("epsilon = 1000", "epsilon = 2000"))
        reply, inside = served.ask("ana"), served.client("stu").get("/v1/ledger")
        assert reply.status_code == inside.status_code == 503
        for told in (reply, inside, served.client().get("/v1/key")):  # there is no ledger to look for a token in
            assert told.json()["what"] == "the server cannot be used as it is set up."
            assert "2000" not in told.text
            assert str(served.place.parent) not in told.text
        served.place.write_text(text.replace("[tables.visits.columns]", '[tables.visits.columns]\nmore = "text"'))
        reply, inside = served.ask("ana"), served.ask("stu")
        assert reply.status_code == inside.status_code == 503
        assert "made for other tables" in reply.json()["what"]
        assert (reply.json()["where"], inside.json()["where"]) == ("", served.place.name)
    finally:
        served.place.write_text(text)
    assert served.ask("ana").status_code == 200


def test_of_several_faults_of_the_set_up_an_analyst_is_told_the_first(served: Served) -> None:
    """The cure of the first tells of the others, each with its place."""
    from dpcurator.errors import Misconfigured
    from dpcurator.server.replies import problem

    several = Misconfigured("one", where="/a/curator.toml:1", cure="mend it.\n/a/curator.toml:7: two. Mend it too.")
    assert b"/a/" not in problem(several, role="analyst").body
    assert b"curator.toml:7" in problem(several, role="steward").body
    assert b"one" not in problem(several).body


def test_a_fault_has_constant_words_and_closes_until_the_steward_reopens(serve: Any, monkeypatch: Any) -> None:
    from dpcurator.engines import stored_engine

    served = serve()
    monkeypatch.setattr(stored_engine(), "evaluate", lambda *_: 1 / 0)
    reply = served.ask("ana")
    assert reply.status_code == 500
    assert reply.json()["what"] == "The question could not be completed."
    assert "division" not in reply.text
    closed = served.ask("bob")
    assert closed.status_code == 503
    assert "closed" in closed.json()["what"]
    monkeypatch.undo()
    assert served.client("stu").post("/v1/reopen").json() == {"reopened": True}
    assert served.ask("ana").status_code == 200  # resumed at no cost
    assert served.client("ana").get("/v1/budget").json()["mine"]["spent"] == "0.01"


def test_the_log_of_requests_has_no_question_no_value_and_no_token(served: Served) -> None:
    before = len(served.lines)
    said = served.ask("ana", epsilon="0.08").json()
    served.client("ana").get("/v1/answers/secret-name-of-mine")
    for _ in range(500):  # a line is written once its reply has left
        if len(served.lines) >= before + 2:
            break
        time.sleep(0.01)
    lines = [json.loads(line) for line in served.lines[before:]]
    assert [(one["route"], one["status"], one["account"]) for one in lines] == [
        ("/v1/ask", 200, "ana"), ("/v1/answers/{name}", 400, "ana")
    ]
    told = "".join(served.lines)
    for secret in ("SELECT", "secret-name", served.token["ana"], said["receipt"]["answer_sha256"]):
        assert secret not in told
    assert set(lines[0]) == {"time", "method", "route", "status", "account", "ms"}


def test_no_reply_may_be_kept_framed_or_sniffed(served: Served) -> None:
    for reply in (served.client().get("/health"), served.ask("ana"), served.client().get("/nowhere")):
        assert reply.headers["cache-control"] == "no-store"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in reply.headers["content-security-policy"]
        assert "server" not in reply.headers or "uvicorn" in reply.headers["server"]


def test_a_limit_of_a_misspelt_name_makes_no_account(served: Served) -> None:
    """Else the steward believes that the one meant has it, and there is one more that may spend."""
    stu = served.client("stu")
    for body in ({"limit": "0.1"}, {"delta": 0}, {"token": False}, {}):
        reply = stu.post("/v1/users/anna", json=body)
        assert (reply.status_code, reply.json()["what"]) == (400, "there is no account anna.")
    assert "anna" not in stu.get("/v1/users").text
    assert stu.post("/v1/users/anna", json={"role": "analyst", "limit": 0}).json()["active"] is False
    assert stu.post("/v1/users/anna", json={"limit": "0.1"}).json()["limit"] == "0.1"


def test_the_auditor_reads_the_history_without_the_questions(served: Served) -> None:
    served.ask("ana", epsilon="0.09")
    whole, part = (served.client(name).get("/v1/log").json() for name in ("stu", "aud"))
    assert [one["hash"] for one in whole] == [one["hash"] for one in part]
    assert any("FROM visits" in one.get("asked", "") for one in whole)
    assert not any({"asked", "parameters", "token"} & set(one) for one in part)
    assert served.client("aud").get("/v1/ledger").json()["holds"]
    assert served.client("stu").get("/v1/log", params={"after": whole[2]["position"]}).json() == whole[3:]


def test_a_catalog_that_cannot_be_used_is_told_before_anything_is_served(tmp_path: Path) -> None:
    from dpcurator.errors import Misconfigured
    from dpcurator.server.application import application

    with pytest.raises(Misconfigured, match="no such catalog"):
        application(tmp_path / "curator.toml")
