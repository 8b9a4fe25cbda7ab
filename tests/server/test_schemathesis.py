"""Schemathesis over all addresses, as each role and as nobody: no reply is a failure, and each is as described.

It runs as a program of its own, wherever it is installed (`pip install schemathesis`, in any environment whose programs
are on the path, or named by the variable SCHEMATHESIS): so its packages need not agree with those here.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .conftest import ROLES, Served
from .test_application import ALLOWED, WHO

BESIDE = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
PROGRAM = os.environ.get("SCHEMATHESIS") or shutil.which("schemathesis", path=BESIDE)
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


@pytest.mark.slow
@pytest.mark.skipif(PROGRAM is None, reason="schemathesis is not installed")
@pytest.mark.parametrize("who", WHO)
def test_whatever_is_sent_the_reply_is_as_described_and_no_failure(who: str, serve: Any, tmp_path: Path) -> None:
    served: Served = serve()
    name = WHO[who]
    sign_in = [] if name is None else ["-H", f"Authorization: Bearer {served.token[name]}"]
    done = subprocess.run(
        [str(PROGRAM), "run", f"{served.url}/v1/openapi.json", *sign_in, "--checks", CHECKS, "--phases",
         "examples,coverage,fuzzing", "-n", "4", "--seed", "1", "--continue-on-failure", "--max-time", "40"],
        capture_output=True, text=True, cwd=tmp_path, env=os.environ | {"PYTHONPATH": ""},
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-1000:]
    seen = [json.loads(line) for line in served.lines]
    assert len(seen) > 200
    of = {one["account"] for one in seen}
    assert of == {"", name or ""}  # it signed in, and nobody else did
    if who == "analyst":  # of the others each address is looked at too, and refused
        assert {one["route"] for one in seen if one["status"] == 200} >= {"/v1/budget", "/v1/tables", "/v1/answers"}
    for one in seen:
        allowed = ALLOWED.get(f"{one['method']} {one['route']}")
        assert one["status"] < 500 or one["status"] == 503, one
        assert allowed is None or who in allowed or one["status"] != 200, one
    sound = {role for role in ROLES if served.curator().ledger.account(role) is not None}
    assert sound == set(ROLES)
    assert served.curator().ledger.verify().sound
