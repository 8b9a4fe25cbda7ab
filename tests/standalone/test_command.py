"""`python verifying.py ...`: the file alone in a folder, no site packages, against receipts, a catalog and lies."""

from __future__ import annotations

import copy
import json
import random
import shutil
import subprocess
import sys
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import pytest
from alone import wrong
from power import Run
from shell import run

import dpcurator as dp
from dpcurator.cli import parser
from dpcurator.cli import verify as verifying
from dpcurator.privacy.families.discrete_gaussian_sums import least_variance
from dpcurator.receipts.verification import verify
from dpcurator.standalone import verify as alone
from receipts import CATALOGS, at, changed, curator, json_of, leaves, signed

CATALOG = """\
[curator]
protects = "patients"
[ledger]
epsilon = "4"
delta = 1e-6
[tables.visits]
file = "visits.csv"
unit = "patient"
max_rows = 2
max_groups = 1
[tables.visits.columns]
city = { type = "text", keys = ["Leeds", "York"] }
patient = "text"
age = { type = "integer", bounds = [0, 110] }
"""


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog, a ledger of three charges, and verifying.py in another folder."""
    place = tmp_path_factory.mktemp("clinic")
    rows = [f"{('Leeds', 'York', 'Hull')[n % 3]},p{n % 40},{n % 90}" for n in range(120)]
    (place / "visits.csv").write_text("city,patient,age\n" + "\n".join(rows) + "\n")
    (place / "curator.toml").write_text(CATALOG)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        with pytest.raises(SystemExit):
            parser()(["refresh"], prog_name="dpcurator")
    made = dp.open(place / "curator.toml")
    made.cut = False  # those of tests/curator/test_cut.py tell of it
    one = made.ask("SELECT city, AVG(age) FROM visits GROUP BY city", epsilon=0.5)
    two = made.ask("SELECT COUNT(*) FROM visits WHERE age > 17", epsilon=0.25)
    three = made.batch(["SELECT SUM(age) FROM visits", "SELECT COUNT(DISTINCT patient) FROM visits"], epsilon=0.5)
    for name, answer in (("one", one), ("two", two), ("three", three[0]), ("four", three[1])):
        (place / f"{name}.json").write_text(json.dumps(dict(answer.receipt)))
        (place / f"{name}.answer").write_text(json.dumps(answer.as_json()))
    (place / "alone").mkdir()
    shutil.copy(alone.__file__, place / "alone" / "verifying.py")
    (place / "key").write_text(made.key.public)
    return place


def verified(clinic: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: isolated, without site packages."""
    command = [sys.executable, "-I", "-S", str(clinic / "alone" / "verifying.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=clinic, check=False)


def receipt(clinic: Path, name: str = "one") -> Any:
    return json.loads((clinic / f"{name}.json").read_text())


def test_a_receipt_holds_against_everything(clinic):
    key = (clinic / "key").read_text()
    done = verified(
        clinic, "one.json", "--key", key, "--catalog", "curator.toml",
        "--receipt", "two.json", "--receipt", "three.json", "--receipt", "four.json",
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines if line.startswith("ok")] == [
        "ok  form", "ok  signature", "ok  question", "ok  number 1", "ok  number 2", "ok  cost", "ok  place",
        "ok  catalog", "ok  other receipts",
    ]
    assert "the receipt holds" in lines
    assert "not checked: " in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [((), 2), (("--key",), 2), (("nothing.json",), 2), (("one.json", "--catalog", "nothing.toml"), 2),
     (("one.json", "--what"), 2), (("visits.csv",), 1), (("one.json", "--key", "00" * 32), 1),
     (("one.json", "--catalog", "visits.csv"), 1), (("one.json",), 0)],
)
def test_exit_codes(clinic, arguments, code):
    done = verified(clinic, *arguments)
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_answers_printed_as_json_are_read_too(clinic):
    (clinic / "answers.json").write_text(
        json.dumps([json.loads((clinic / f"{name}.answer").read_text()) for name in ("one", "two")])
    )
    done = verified(clinic, "answers.json")
    assert (done.returncode, done.stdout.count("signature: signed with")) == (0, 2)
    assert "ok  2: answer: the one whose hash was signed" in done.stdout
    (clinic / "answers.json").write_text(json.dumps([{"rows": [], "receipt": receipt(clinic)}]))
    assert verified(clinic, "answers.json").returncode == 1


def test_a_name_given_twice_is_refused(clinic):
    """Two readers could read two receipts: json takes the last, another reader may show the first."""
    text = (clinic / "one.json").read_text()
    (clinic / "twice.json").write_text('{"epsilon": "1/1000", ' + text[1:])
    assert verified(clinic, "twice.json").returncode == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [('epsilon = "4"', "epsilon = 5"),
     ('protects = "patients"', 'protects = "dogs"'), ('unit = "patient"', 'unit = "city"'),
     ('protects = "patients"', 'protects = "patients"\nneighbours = "replace-one"\nunits = 40'),
     ('city = { type = "text", keys = ["Leeds", "York"] }\npatient = "text"', 'patient = "text"\ncity = "text"'),
     ("tables.visits", "tables.calls"), ('unit = "patient"', "public = true")],
)
def test_a_catalog_that_declares_otherwise_is_told(clinic, old, new):
    (clinic / "other.toml").write_text(CATALOG.replace(old, new))
    done = verified(clinic, "one.json", "--catalog", "other.toml")
    assert done.returncode == 1
    assert "NO  catalog" in done.stdout


def test_numbers_of_a_catalog_may_be_spelled_in_any_way(clinic):
    (clinic / "spelled.toml").write_text(CATALOG.replace('"4"', '"8 / 2"').replace("rows = 2", 'rows = "2"'))
    assert verified(clinic, "one.json", "--catalog", "spelled.toml").returncode == 0


@pytest.fixture(scope="module")
def history() -> list[Any]:
    made = curator()
    return [json_of(made.ask(f"SELECT COUNT(*) FROM visits WHERE age > {n}", epsilon="1/3").receipt) for n in range(4)]


def test_receipts_of_one_history_hold_together_in_any_order(history):
    for one in history:
        assert wrong(one, others=[*history[::-1], one]) == set()


def test_two_histories_are_told(history):
    """A curator that answers from a copy of its ledger signs another head for the same place."""
    other = curator()
    branch = [json_of(other.ask(f"SELECT SUM(age) FROM visits WHERE age > {n}", epsilon=1).receipt) for n in range(4)]
    for one, another in zip(history, branch, strict=True):
        assert wrong(one, others=[another]) == {"other receipts"}
    assert wrong(history[0], others=branch) == {"other receipts"}


@pytest.mark.parametrize(
    "lie", [{"spent": "1/3"}, {"spent": "99/100"}, {"remaining": "1"}, {"position": 2}, {"head": None}]
)
def test_a_history_that_contradicts_itself_is_told(history, lie):
    lie = {name: history[0]["ledger"]["head"] if value is None else value for name, value in lie.items()}
    told = signed(copy.deepcopy(history[2]) | {"ledger": history[2]["ledger"] | lie})
    assert wrong(told, others=history[:2]) & {"other receipts", "place"}


def test_two_questions_for_one_event_are_told(history):
    other = curator().ask("SELECT SUM(age) FROM visits", epsilon="1/3").receipt
    lie = signed(json_of(other) | {"ledger": history[0]["ledger"]})
    assert wrong(lie) == set()
    assert wrong(lie, others=[history[0]]) == {"other receipts"}


def test_gaussian_noise_that_claims_to_cost_nothing_is_told():
    """Only a number alone in a ledger of epsilon has no rho of its own."""
    told = json_of(curator(CATALOGS["rho"]).ask("SELECT COUNT(*) FROM visits", spend="5%").receipt)
    told["readings"][0] |= {"rho": "0", "variance": "1/1000"}
    told |= {"rho": "0"}
    named = ("price", "epsilon", "rho", "delta", "confidence", "selection")
    noises = [{name: value for name, value in told["readings"][0].items() if name != "derivation"}]
    told["parameters_sha256"] = alone.digest({name: told[name] for name in named} | {"mechanisms": noises})
    assert wrong(signed(told)) == {"number 1"}


def test_receipts_of_another_key_or_changed_are_no_witnesses(history):
    assert wrong(history[0], others=[changed(history[1], ("epsilon",), "1/4")]) == {"other receipts"}
    assert wrong(history[0], others=[{}]) == {"other receipts"}
    assert wrong(history[0], others=[None]) == {"other receipts"}


def test_words_of_a_receipt_cannot_write_lines_of_their_own(history):
    lie = json_of(history[0])
    lie["plan"]["source"]["source"]["source"]["source"]["table"] = "x\nok  all: fine\x1b[2K\ud800"
    for _, _, words in alone.steps(signed(lie)):
        assert words.isprintable()


DEEP: Any = []
for _ in range(5_000):
    DEEP = [DEEP]
HOSTILE = (None, [], {}, "", 0, -1, True, 1e308, float("nan"), "9" * 1400, f"1/{'9' * 1400}", "9" * 10_000, 10**1399,
           10**5000, "1e999999999", "\ud800", {"exact": "1/0"}, {"exact": []}, {"node": "Plan"}, [[]] * 1000, DEEP,
           {"node": []}, {"node": {}})


def test_hostile_values_in_any_place_are_a_no_and_never_a_crash():
    made = curator(CATALOGS["unknown"])
    luck = random.Random("hostile")
    for text in ("SELECT city, AVG(age) FROM visits WHERE age > 3 GROUP BY city", "SELECT SUM(x) FROM rows"):
        fine = json_of(made.ask(text, spend="5%").receipt)
        for path in [*leaves(fine), *((name,) for name in fine)]:
            for value in luck.sample(HOSTILE, 2):
                if value != at(fine, path) or type(value) is not type(at(fine, path)):
                    assert wrong(changed(fine, path, value))
    for value in HOSTILE:
        assert wrong(value) == {"form"}


def test_hostile_numbers_signed_with_the_true_key_take_bounded_time():
    """Every amount of every kind at its extremes: each answer comes after at most a few sums of 100,000 terms."""
    for name in ("unknown", "unknown, replaced", "unknown, rho", "approximate"):
        made = curator(CATALOGS[name])
        fine = json_of(made.ask("SELECT city, COUNT(*) FROM visits GROUP BY city", spend="5%").receipt)
        for path in leaves(fine):
            if isinstance(at(fine, path), str) and at(fine, path).replace("/", "").isdigit() and path[0] != "ledger":
                for value in ("9" * 1400, f"1/{'9' * 1400}"):
                    assert wrong(signed(changed(fine, path, value))), path


def lone(variance: str, shift: int, epsilon: str, delta: str) -> bool:
    """Whether a Gaussian number alone is accepted at this price."""
    made = curator(CATALOGS["approximate"])
    told = json_of(made.ask("SELECT COUNT(*) FROM visits", spend="5%").receipt)
    one = {name: value for name, value in told["readings"][0].items() if name != "scale"}
    one |= {"mechanism": "discrete_gaussian", "variance": variance, "epsilon": "0", "rho": "0", "linf": shift}
    told |= {
        "readings": [one],
        "epsilon": epsilon,
        "delta": delta,
        "price": told["price"] | {"amount": epsilon, "delta": delta},
    }
    named = ("price", "epsilon", "rho", "delta", "confidence", "selection")
    noises = [{name: value for name, value in one.items() if name != "derivation"}]
    told["parameters_sha256"] = alone.digest({name: told[name] for name in named} | {"mechanisms": noises})
    return alone.step("cost", lambda: alone.cost(told, alone.reach_of(told["plan"])))[1]


def test_a_gaussian_number_alone_is_priced_by_its_own_law():
    every = (("2", "1/100000000", 5 * 2**61), ("1", "1/1000", 1), ("1/10", "1/10", 262144))
    for epsilon, delta, shift in every if Run.whole else every[:1]:
        least = least_variance(F(epsilon), F(delta), shift)
        assert lone(str(least), shift, epsilon, delta)
        assert not lone(str(least / 2), shift, epsilon, delta)
    for variance in ("9" * 1400, f"1/{'9' * 1400}", "0"):
        assert lone(variance, 1, "1", "1/1000") == (variance[0] == "9")


def test_fuzzed_bytes_of_a_file_are_never_a_crash(clinic, capsys, monkeypatch):
    luck = random.Random("bytes")
    text = bytearray((clinic / "one.json").read_bytes())
    for _ in range(80):
        changed_ = bytearray(text)
        for _ in range(luck.choice([1, 1, 3, 20])):
            place = luck.randrange(len(changed_))
            changed_[place : place + luck.choice([0, 1, 1, 5])] = luck.choice(
                [b"", b"{", b"]", b'"', b"9" * 50, b"\xff", b"\\", b"null", luck.randbytes(3)]
            )
        if changed_ == text:
            continue
        (clinic / "fuzzed.json").write_bytes(changed_)
        monkeypatch.setattr(sys, "argv", ["verifying.py", str(clinic / "fuzzed.json")])
        assert alone.main() == 1
    for odd in (
        b"",
        b"null",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b"[null]",
        b"1" * 10_000,
        b"[[]]",
        b'{"receipt": 5}',
        b"NaN",
    ):
        (clinic / "fuzzed.json").write_bytes(odd)
        assert alone.main() == 1
    with (clinic / "fuzzed.json").open("wb") as file:
        file.truncate(alone.LARGEST + 1)
    assert alone.main() == 1


def test_the_product_calls_it_and_does_not_hold_without_it(clinic, capsys, monkeypatch):
    monkeypatch.chdir(clinic)
    for extra in ([], ["--alone"], ["--key", (clinic / "key").read_text()]):
        fine = run(capsys, "verify", "one.json", *extra)
        assert fine.code == 0
        assert "ok  independent check: all its" in fine.out
    no = [("cost", False, "the cost is not the sum of the losses")]
    monkeypatch.setattr(verifying, "file_steps", lambda *_, **__: no)
    lied = run(capsys, "verify", "one.json")
    assert lied.code == 1
    assert "NO  independent check: cost: the cost is not the sum of the losses" in lied.out
    assert verify(receipt(clinic)).holds
