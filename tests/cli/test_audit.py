"""`dpcurator audit`: what it prints, its exit codes, and what it refuses."""

from __future__ import annotations

import signal

import pytest
from shell import run

from dpcurator.cli import audit, guard

FUNCTIONS = '''
import os

import numpy as np

RNG = np.random.default_rng(8)


def noisy_sum(rows, size):
    """Noise of scale 1, whatever the rows may be."""
    return np.round(sum(rows) + RNG.laplace(0, 1, size), 6)


def noisy(x):
    return round(x + RNG.laplace(), 3)


number = 7


def talks(x):
    print("talking")
    os.write(1, b"talking\\n")
    return 1


def leaves(x):
    raise SystemExit(0)


def forever(x):
    while True:
        pass


def other(x, y):
    return 1


async def later(x):
    return x
'''


@pytest.fixture
def file(tmp_path):
    place = tmp_path / "audited_functions.py"
    place.write_text(FUNCTIONS, "utf-8")
    return place


def test_a_violation_is_printed_and_is_exit_code_3(capsys, file):
    tried = ("--neighbours", "add-remove", "--bounds", "0", "100", "--samples", "20000")
    ran = run(capsys, "audit", f"{file}:noisy_sum", "--epsilon", "1", *tried)
    assert ran.code == 3
    assert ran.out.startswith("noisy_sum: violation found\n")
    assert "event" in ran.out


def test_none_found_is_exit_code_0_and_json_says_as_much(capsys, file):
    ran = run(capsys, "audit", f"{file}:noisy", "--epsilon", "1", "--pair", "0", "1", "--samples", "3000", "--json")
    assert ran.code == 0
    assert ran.json["verdict"] == "no violation found"
    assert ran.json["samples"] == 3000
    assert float(ran.json["epsilon"]) <= 1


def test_by_module_and_other_claims(capsys, file, monkeypatch):
    monkeypatch.chdir(file.parent)
    for claim in (("--epsilon", "0.1", "--delta", "0.01"), ("--rho", "0.005")):
        ran = run(
            capsys, "audit", "audited_functions:noisy", *claim, "--pair", "0", "1", "--samples", "5000", "--no-bits"
        )
        assert ran.code == 3


@pytest.mark.parametrize(
    "given",
    [
        ("noisy", "--pair", "0", "1"),
        ("noisy", "--epsilon", "1", "--rho", "1", "--pair", "0", "1"),
        ("noisy", "--epsilon", "1"),
        ("noisy", "--epsilon", "1", "--neighbours", "add-remove"),
        ("noisy", "--epsilon", "1", "--neighbours", "add-remove", "--bounds", "0", "1", "--values", "[1]"),
        ("absent", "--epsilon", "1", "--pair", "0", "1"),
        ("number", "--epsilon", "1", "--pair", "0", "1"),
        ("leaves", "--epsilon", "1", "--pair", "0", "1", "--samples", "200"),
        ("other", "--epsilon", "1", "--pair", "0", "1", "--samples", "200"),
        ("later", "--epsilon", "1", "--pair", "0", "1"),
        ("noisy", "--epsilon", "1", "--neighbours", "add-remove", "--bounds", "low", "high"),
        ("noisy", "--epsilon", "1", "--pair", "0", "1", "--seconds", "soon"),
    ],
    ids=" ".join,
)
def test_what_is_no_question_is_exit_code_2(capsys, file, given):
    ran = run(capsys, "audit", f"{file}:{given[0]}", *given[1:])
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("refused: ")


def test_a_module_that_cannot_be_imported(capsys):
    assert run(capsys, "audit", "no_such_module_here:f", "--epsilon", "1", "--pair", "0", "1").code == 2
    assert run(capsys, "audit", "nothing", "--epsilon", "1", "--pair", "0", "1").code == 2


def test_what_the_function_prints_is_not_printed(capfd, file):
    ran = run(capfd, "audit", f"{file}:talks", "--epsilon", "1", "--pair", "0", "1", "--samples", "300", "--json")
    assert (ran.code, ran.json["verdict"]) == (0, "no violation found")


def test_a_file_that_ends_the_program_is_no_good_news(capsys, tmp_path):
    (tmp_path / "quits.py").write_text("print('bye')\nraise SystemExit(0)\n", "utf-8")
    ran = run(capsys, "audit", f"{tmp_path / 'quits.py'}:f", "--epsilon", "1", "--pair", "0", "1")
    assert (ran.code, ran.out) == (2, "")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
def test_a_function_that_never_comes_back_is_left(capsys, file, monkeypatch):
    monkeypatch.setattr(audit, "within", lambda seconds: guard.within(0.5))
    before = signal.getsignal(signal.SIGALRM)
    ran = run(capsys, "audit", f"{file}:forever", "--epsilon", "1", "--pair", "0", "1")
    assert ran.code == 2
    assert "did not return" in ran.err
    assert signal.getsignal(signal.SIGALRM) is before
