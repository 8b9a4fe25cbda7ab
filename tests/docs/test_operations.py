"""The files of docs/operations.md say what they mean to: what they call is there, and each is one of its kind.

The page's commands and Python are run with the other documents (test_documents.py). Where a program that reads such a
file is installed, it reads it; a container daemon is not asked.
"""

from __future__ import annotations

import configparser
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from documents import ROOT, blocks

FILES = {block.mark[1].rpartition("/")[2]: block.body
         for block in blocks((ROOT / "docs" / "operations.md").read_text(encoding="utf-8"))
         if block.mark is not None and block.mark[0] == "file"}


def accepts(words: list[str]) -> None:
    """Raises where `dpcurator` has no such command, or the command no such option or value."""
    from dpcurator.cli import parser

    group, left = parser(), list(words)
    while hasattr(group, "commands") and left and left[0] in group.commands:
        group = group.commands[left.pop(0)]
    assert not hasattr(group, "commands") or group.name == "key", words
    group.make_context(words[0], left, resilient_parsing=False)


def test_every_command_of_the_files_is_one_with_these_options() -> None:
    text = "\n".join(FILES.values())
    found = [shlex.split(one) for one in re.findall(r"bin/dpcurator ([^\n]+)", text)]
    found.append([word.strip('" ') for word in re.search(r'CMD \["dpcurator", (.*)\]', text)[1].split(",")])
    assert {one[0] for one in found} == {"refresh", "check", "user", "key", "serve"}
    for words in found:
        accepts(words)
    with pytest.raises(Exception, match="No such option"):
        accepts(["serve", "--prot", "1"])


def test_the_unit_is_one(tmp_path: Path) -> None:
    unit = configparser.ConfigParser(strict=True)
    unit.optionxform = str
    unit.read_string(FILES["dpcurator.service"])
    service = unit["Service"]
    assert service["WorkingDirectory"] == service["ReadWritePaths"] == "/srv/clinic"
    assert service["User"] == "dpcurator"
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed")
    place = tmp_path / "dpcurator.service"
    place.write_text(FILES["dpcurator.service"].replace("/opt/dpcurator/bin/dpcurator serve", "/bin/true serve"))
    done = subprocess.run([program, "verify", "--man=no", str(place)], capture_output=True, text=True, timeout=60)
    mine = [line for line in (done.stdout + done.stderr).splitlines() if "dpcurator.service" in line]
    assert mine == []


def test_the_scripts_and_proxies_are_written_as_such() -> None:
    done = subprocess.run(["sh", "-n"], input=FILES["install.sh"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    for name in ("nginx.conf", "Caddyfile"):
        assert FILES[name].count("{") == FILES[name].count("}") > 0
        assert "127.0.0.1:8642" in FILES[name]
    container = FILES["Containerfile"]
    verbs = {line.split()[0] for line in container.splitlines()}
    assert verbs <= {"FROM", "RUN", "COPY", "USER", "WORKDIR", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "CMD"}
    assert "dpcurator-0.1.0-py3-none-any.whl[server]" in container
    version = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.M)
    assert version is not None
    assert f"dpcurator-{version[1]}-py3" in container
