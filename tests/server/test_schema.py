"""The OpenAPI description: each address has one, and each reply is of the form that it says."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import COUNT, Served
from .test_application import ALLOWED, BODIES


def fits(value: Any, schema: Any, made: Any) -> bool:
    """Whether a value is of a form: as much of JSON Schema as the description uses."""
    if "$ref" in schema:
        return fits(value, made["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]], made)
    if "anyOf" in schema:
        return any(fits(value, one, made) for one in schema["anyOf"])
    kinds = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None), "array": list,
             "object": dict}
    wanted = schema.get("type", [])
    wanted = [wanted] if isinstance(wanted, str) else wanted
    if not any(isinstance(value, kinds[one]) and (one == "boolean" or value is not True) for one in wanted):
        return False
    if isinstance(value, list):
        return all(fits(one, schema["items"], made) for one in value)
    if isinstance(value, dict):
        return set(schema.get("required", [])) <= set(value) and all(
            fits(one, schema["properties"][name], made) for name, one in value.items()
            if name in schema.get("properties", {})
        )
    return True


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


def test_every_reply_is_of_its_form(made: Any, served: Served) -> None:
    said = served.ask("stu", epsilon="0.01", totals=[{"by": []}]).json()
    name = said["receipt"]["request"][:12]
    answer, problem = made["components"]["schemas"]["Answer"], made["components"]["schemas"]["Problem"]
    assert fits(said, answer, made)
    assert not fits(said | {"rows": [[{"value": 1}]]}, answer, made)
    assert not fits({"rows": []}, answer, made)
    with served.client("stu") as client:
        for path, methods in made["paths"].items():
            for method, one in methods.items():
                target = path.replace("{name}", "ana" if "users" in path else name)
                body = said["receipt"] if path == "/v1/verify" else BODIES.get(f"{method.upper()} {path}")
                reply = client.request(method, target, json=body)
                assert reply.status_code == 200, (path, reply.text)
                kind = reply.headers["content-type"]
                schema = one["responses"]["200"]["content"][kind]["schema"]
                assert kind == "application/x-ndjson" or fits(reply.json(), schema, made), (path, reply.json())
        for wrong in ({"sql": "SELECT"}, {"epsilon": "9999"}, {"epslon": 1}):
            told = served.ask("ana", **wrong)
            assert str(told.status_code) in made["paths"]["/v1/ask"]["post"]["responses"]
            assert fits(told.json(), problem, made)
    for told in (served.client().get("/v1/budget"), served.client("ana").get("/v1/users")):
        assert fits(told.json(), problem, made)
    assert COUNT
