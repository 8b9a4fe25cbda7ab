"""A served clinic: a curator with four accounts, behind a real server on this machine, in this process."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the server's packages are not installed")
pytest.importorskip("httpx", reason="httpx is not installed")

import httpx
import uvicorn
from shell import CLINIC, refreshed

import dpcurator as dp
from dpcurator.curator.opening import open_curator
from dpcurator.ledger.accounts import new_token
from dpcurator.server.access import Access
from dpcurator.server.application import application
from dpcurator.server.limits import Work
from dpcurator.server.running import Patient

COUNT = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
ROLES = {"ana": "analyst", "bob": "analyst", "aud": "auditor", "stu": "steward"}


@dataclass
class Served:
    """A running server. token: of each account; lines: its log."""

    url: str
    place: Path
    token: dict[str, str]
    lines: list[str] = field(default_factory=list)

    open: list[Any] = field(default_factory=list)

    def client(self, name: str | None = None) -> httpx.Client:
        headers = {} if name is None else {"Authorization": f"Bearer {self.token[name]}"}
        made = httpx.Client(base_url=self.url, headers=headers, trust_env=False, timeout=60,
                            verify=False)  # there is no TLS here, and certificates take long to load
        self.open.append(made)
        return made

    def ask(self, name: str, **body: Any) -> httpx.Response:
        headers = {"Idempotency-Key": body.pop("key")} if "key" in body else {}
        with self.client(name) as client:
            return client.post("/v1/ask", json={"sql": COUNT, "epsilon": "0.01"} | body, headers=headers)

    def remote(self, name: str, **how: Any) -> Any:
        made = dp.connect(self.url, token=self.token[name], **how)
        self.open.append(made)
        return made

    def close(self) -> None:
        for one in self.open:
            one.close()

    def curator(self) -> dp.Curator:
        return open_curator(self.place)


def clinic(directory: Path, epsilon: int = 1000) -> tuple[Path, dict[str, str]]:
    """A catalog with its data, refreshed, and a token of each account."""
    (directory / "visits.csv").write_text("patient_id,city,age\n" + "".join(
        f"p{n % 40},{('Leeds', 'York', 'Hull')[n % 3]},{n % 90}\n" for n in range(120)
    ))
    place = directory / "curator.toml"
    place.write_text(CLINIC.replace("epsilon = 1\n", f"epsilon = {epsilon}\n"))
    refreshed(directory)
    ledger = open_curator(place).ledger
    tokens = {name: new_token(name) for name in ROLES}
    for name, role in ROLES.items():
        ledger.grant(name, role=role, token=tokens[name])
    return place, tokens


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """`serve(tick=1)`: a server of a new clinic; `work` and `guarded` as the application takes them."""
    stops: list[Callable[[], None]] = []

    def make(*, epsilon: int = 1000, delay: float = 0.0, work: Work | None = None, **guarded: Any) -> Served:
        place, tokens = clinic(tmp_path, epsilon)
        found = Served("", place, tokens)
        app = application(place, access=Access(delay), work=work, log=found.lines.append, **guarded)
        found.url, stop = run(app)
        stops.extend((found.close, stop))
        return found

    yield make
    for stop in stops:
        stop()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for a file of tests, which spend little of its budget."""
    place, tokens = clinic(tmp_path_factory.mktemp("served"))
    found = Served("", place, tokens)
    found.url, stop = run(application(place, access=Access(0.0), log=found.lines.append))
    yield found
    found.close()
    stop()


def run(app: Any) -> tuple[str, Callable[[], None]]:
    """Its address, and how to stop it."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(
        app, http=Patient, ws="none", lifespan="off", access_log=False, log_level="critical", limit_concurrency=200,
        h11_max_incomplete_event_size=16 * 1024,
    ))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()

    def stop() -> None:
        server.should_exit = True
        thread.join(20)
        listening.close()

    return f"http://127.0.0.1:{listening.getsockname()[1]}", stop


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


def replied(made: Any, method: str, path: str, reply: Any) -> Any:
    """The form that a reply should have."""
    responses = made["paths"][path][method.lower()]["responses"]
    return responses[str(reply.status_code)]["content"][reply.headers["content-type"]]["schema"]
