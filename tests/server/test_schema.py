"""The OpenAPI description: each address has one, and each reply is of the form that it says."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import Served, fits, replied
from .test_application import ALLOWED


@pytest.fixture(scope="module")
def made(served: Served) -> Any:
    return served.client().get("/v1/openapi.json").json()


def test_every_address_says_who_signs_in_and_what_comes_back(made: Any) -> None:
    assert made["openapi"] == "3.1.0"
    seen = set()
    for path, methods in made["paths"].items():
        for method, one in methods.items():
            seen.add(one["operationId"])
            allowed = ALLOWED[f"{method.upper()} {path}"]
            assert (one.get("security") == [{"token": []}]) == ("nobody" not in allowed), path
            assert {"200", "400", "503"} <= set(one["responses"])
            assert ("401" in one["responses"]) == ("nobody" not in allowed)
            assert "422" not in one["responses"]
            assert one["summary"].endswith(".")
    assert len(seen) == sum(len(methods) for methods in made["paths"].values())
    assert "ValidationError" not in str(made)


def test_answers_receipts_and_problems_are_of_their_forms(made: Any, served: Served) -> None:
    """Every address is compared with its form where the roles are (test_application.py)."""
    said = served.ask("stu", epsilon="0.01", totals=[{"by": []}]).json()
    name = said["receipt"]["request"][:12]
    answer, problem = made["components"]["schemas"]["Answer"], made["components"]["schemas"]["Problem"]
    assert fits(said, answer, made)
    assert not fits(said | {"rows": [[{"value": 1}]]}, answer, made)
    assert not fits({"rows": []}, answer, made)
    with served.client("stu") as client:
        for path in ("/v1/answers/{name}", "/v1/receipts/{name}"):
            reply = client.get(path.replace("{name}", name))
            assert reply.status_code == 200
            assert fits(reply.json(), replied(made, "GET", path, reply), made)
        for wrong in ({"sql": "SELECT"}, {"epsilon": "9999"}, {"epslon": 1}):
            told = served.ask("ana", **wrong)
            assert str(told.status_code) in made["paths"]["/v1/ask"]["post"]["responses"]
            assert fits(told.json(), problem, made)
