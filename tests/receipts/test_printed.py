"""Printed files, by both verifiers: an answer, a repeat, a public answer, batches, lists of answers and of receipts.

B1 to B5, each by its inputs, and then every change: each field of a file changed, left out, added, named otherwise or
given twice, each item of a list left out or twice, each receipt gone or another's. Both verifiers find it, or both name
that field as not checked. What a curator that lies signs anew is in tests/standalone/test_mutations.py, and here where
it is of an answer, or public.
"""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dpcurator.catalog.model import Catalog
from dpcurator.cli.verify import verify_content
from dpcurator.curator.curator import Curator
from dpcurator.engines.reference import Reference
from dpcurator.errors import Misconfigured
from dpcurator.plan.canonical import plan_of
from dpcurator.plan.check_catalog import disagreement
from dpcurator.receipts import charges, loss
from dpcurator.receipts.answers import BESIDE, CORE, WITHIN
from dpcurator.receipts.form import FIELDS, Step, Verification
from dpcurator.receipts.receipt import PUBLIC, sha
from dpcurator.receipts.verification import verify
from dpcurator.standalone import verify as alone
from dpcurator.values import read_json
from receipts import CATALOGS, KEY, at, changed, curator, others, signed

GROUPED = "SELECT city, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY city ORDER BY n LIMIT 2"
TOTAL = "SELECT SUM(cost), COUNT(DISTINCT patient) FROM visits"
FREE = "SELECT city, 1 + 1 AS two FROM visits GROUP BY city"
KEPT = Path(__file__).parent / "kept"
KINDS = (
    "an answer", "an answer with its cut", "a repeat", "a public answer", "a batch", "its receipts", "a batch as one",
    "answers", "an answer of chosen keys", *(one.stem for one in sorted(KEPT.glob("[0-9]_*.json"))),
)


@pytest.fixture(scope="module", autouse=True)
def _the_same_once():
    """Signatures, in Python by the second verifier, points of batches and prices of plans are computed once each."""
    points = cache(lambda losses, delta, of=charges.point_of: of(list(losses), delta))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alone, "signed", cache(alone.signed))
        patch.setattr(charges, "point_of", lambda losses, delta: points(tuple(losses), delta))
        patch.setattr(loss, "priced_at", cache(loss.priced_at))
        yield


@cache
def files() -> dict[str, Any]:
    """Printed files by kind."""
    made = curator(CATALOGS["approximate"])
    batch = made.batch([GROUPED, FREE, TOTAL], spend="5%")
    many = [f"SELECT COUNT(*) FROM visits WHERE age > {n}" for n in range(5)]
    in_rho = curator(CATALOGS["rho"])
    found: dict[str, Any] = {
        "an answer": made.ask(GROUPED, spend="5%").as_json(),
        "an answer with its cut": curator(CATALOGS["approximate"], cut=True).ask(GROUPED, spend="5%").as_json(),
        "a repeat": made.ask(GROUPED, spend="5%").as_json(),
        "a public answer": made.ask(FREE, spend="5%").as_json(),
        "a batch": [one.as_json() for one in batch],
        "its receipts": [one.receipt for one in batch],
        "a batch as one": [one.as_json() for one in made.batch(many, spend="50%", as_one=True)],
        "answers": [in_rho.ask(text, spend="5%").as_json() for text in (TOTAL, GROUPED)],
        "an answer of chosen keys": curator(CATALOGS["unknown"]).ask(GROUPED, spend="50%").as_json(),
    }
    found = json.loads(json.dumps(found)) | {one.stem: json.loads(one.read_text()) for one in KEPT.glob("[0-9]_*.json")}
    assert set(found) == set(KINDS)
    return found


def both(content: Any, text: str | None = None, **outside: Any) -> tuple[bool, bool, Verification]:
    """(whether the first holds, whether the second holds, what both said) of a file with this content, or text."""
    data = json.dumps(content) if text is None else text
    found = verify_content(content, data.encode(), outside.pop("declared", None), KEY.public, **outside)
    return all(step.holds for step in found.steps[:-1]) and len(found.steps) > 1, found.steps[-1].holds, found


def holds(content: Any, **outside: Any) -> bool:
    one, two, _ = both(content, **outside)
    return one and two


# --- B1: nothing holds without a receipt ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_printed_holds_by_both(kind):
    content = files()[kind]
    key = (content[0] if isinstance(content, list) else content).get("receipt", {}).get("public_key", KEY.public)
    found = verify_content(content, json.dumps(content).encode(), None, key)
    assert [str(step) for step in found.steps if not step.holds] == []


def test_b1_an_answer_without_a_receipt_does_not_hold():
    for content in (files()["an answer"], files()["a public answer"]):
        for lie in (content | {"receipt": None}, {name: one for name, one in content.items() if name != "receipt"}):
            one, two, found = both(lie)
            assert (one, two) == (False, False)
            assert "nothing else vouches for an answer" in str(found)


def test_b1_a_batch_with_one_value_changed_and_its_receipt_gone_does_not_hold():
    lie = copy.deepcopy(files()["a batch"])
    lie[0]["rows"][0][1]["value"] += 1
    lie[0]["receipt"] = None
    one, two, found = both(lie)
    assert (one, two) == (False, False)
    assert {step.name for step in found.steps if not step.holds} == {"1: form", "independent check"}


@pytest.mark.parametrize("content", [[], {}, None, 7, "x", [[]], [None], [{}], [[{"rows": []}]], {"rows": []}])
def test_b1_what_holds_no_receipt_does_not_hold(content):
    assert both(content)[:2] == (False, False)


def test_b1_nothing_holds_on_no_steps():
    assert not Verification(()).holds
    assert Verification((Step("form", True, ""),)).holds


def test_b1_a_public_answer_is_signed_at_price_0_and_the_same_each_time():
    made = curator()
    one, two = (made.ask(FREE, epsilon=1) for _ in range(2))
    assert one.receipt == two.receipt
    assert one.public
    assert one.receipt["format"] == PUBLIC
    assert set(one.receipt) == FIELDS[PUBLIC]
    assert one.receipt["price"] == {"currency": "epsilon", "amount": "0", "delta": "0"}
    assert one.receipt_id is None
    assert made.budget().spent == 0
    assert made.ledger.life() == "new"
    told = made.verify(one.receipt)
    assert [step.name for step in told.steps] == ["form", "signature", "plan", "price", "catalog"]
    assert told.holds


def test_b1_a_liars_public_answer_is_one_that_needs_no_data():
    """Private values under a receipt at no price: the plan says that data must be read."""
    paid, free = files()["an answer"], files()["a public answer"]["receipt"]
    told = {name: paid["receipt"][name] for name in ("plan", "plan_sha256", "answer_sha256", "confidence")}
    lie = paid | {"receipt": signed(free | told), "cost": "0"}
    one, two, found = both(lie)
    assert (one, two) == (False, False)
    assert "private data must be read to answer this" in str(found)


def test_b1_values_of_a_public_answer_follow_from_the_catalog():
    content = copy.deepcopy(files()["a public answer"])
    catalog = CATALOGS["approximate"]
    assert both(content, catalog=catalog)[0]
    content["rows"][0][0]["value"] = "Hull2"
    core = {name: content[name] for name in CORE}
    content["receipt"] = signed(content["receipt"] | {"answer_sha256": sha(core)})
    without = both(content)[2]
    assert without.holds
    assert "values of a public answer" in " ".join(without.not_checked)
    assert "of a public one its values" in alone.NOT_CHECKED.replace("\n", " ")
    assert not both(content, catalog=catalog)[0]


# --- B2: one value for each name --------------------------------------------------------------------------------------


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Of each name of each object."""
    if isinstance(value, dict | list):
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(value, dict):
                yield (*path, name)
            yield from places(inner, (*path, name))


def with_name_twice(value: Any, twice: tuple[Any, ...]) -> str:
    """The JSON in which that name stands twice, first with another value."""
    if isinstance(value, list):
        each = (with_name_twice(one, twice[1:] if n == twice[0] else (None,)) for n, one in enumerate(value))
        return f"[{', '.join(each)}]"
    if not isinstance(value, dict):
        return json.dumps(value)
    parts = [f"{json.dumps(twice[0])}: 0"] if len(twice) == 1 and twice[0] in value else []
    parts += [
        f"{json.dumps(name)}: {with_name_twice(one, twice[1:] if name == twice[0] and len(twice) > 1 else (None,))}"
        for name, one in value.items()
    ]
    return f"{{{', '.join(parts)}}}"


def test_b2_a_name_given_twice_anywhere_is_refused_by_each_reader():
    tried, content = 0, [files()["an answer"]]
    for place in places(content):
        text = with_name_twice(content, place)
        assert json.loads(text) == content  # as other readers take it
        with pytest.raises(ValueError, match="is given twice"):
            read_json(text)
        with pytest.raises(alone.No, match="a name is given twice"):
            alone.entries_in(text.encode())
        tried += 1
    assert tried > 150


def test_b2_the_second_verifier_reads_the_bytes_itself():
    """A file whose text says other things than the value that the first verifier was given."""
    content = files()["an answer"]
    text = json.dumps(content)
    assert both(content, text)[:2] == (True, True)
    other = text.replace(f'"cost": "{content["cost"]}"', '"cost": "0"')
    assert other != text
    assert both(content, other)[:2] == (True, False)


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"rows": -Infinity}', "[" * 10**5, '{"a": 1, "a": 1}'])
def test_b2_what_is_no_json_is_a_value_error(text):
    with pytest.raises(ValueError):
        read_json(text)


def test_b2_json_is_read_in_one_way():
    """`json.loads` takes the last of two values: it is called in `read_json`, where a user writes values on a command
    line, and of what `demo` itself printed and a refresh on Spark itself told of its parts."""
    import ast

    import dpcurator

    root = Path(dpcurator.__file__).parent
    users = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        if "json" in (text := path.read_text("utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and node.attr in ("loads", "load", "JSONDecoder")
        and isinstance(node.value, ast.Name) and node.value.id == "json"
    }
    assert users == {"values.py", "standalone/verify.py", "cli/audit.py", "cli/demo.py", "snapshot/spark_refresh.py"}


# --- B3: no public fact that lowers a sensitivity is taken on trust ---------------------------------------------------


def filled_world(missing: str) -> tuple[Catalog, dict[str, Any]]:
    """(catalog, its TOML): each row a unit, one replaced by another, weights of 60 to 70."""
    import tomllib

    from dpcurator.catalog.bind import catalog_of
    from dpcurator.catalog.load import load

    told = tomllib.loads(f"""
[curator]
protects = "people"
neighbours = "replace-one"
units = 40
salt = "{"5" * 32}"
[ledger]
epsilon = 10
[tables.t]
unit = "each row"
[tables.t.columns]
id = "integer"
weight = {{ type = "float", bounds = [60, 70]{missing} }}
""")
    return catalog_of(load(told, directory=Path("."))), told


def quoted_as(catalog: Catalog, text: str, *, filled: bool) -> Any:
    """A signed receipt of the question, as if missing weights were read as 65: what a curator that lies would issue."""
    from dataclasses import replace

    from alone import receipt_of

    from dpcurator.catalog.model import Table

    table = catalog.tables[0]
    columns = tuple(replace(one, missing=65.0 if filled and one.name == "weight" else None) for one in table.columns)
    lied = replace(catalog, tables=(Table(table.name, columns, table.unit),))
    return receipt_of(curator(lied).quote(text, epsilon=1))


def moved(receipt: Any) -> Fraction:
    """How far one unit moves the sum, by the receipt."""
    return receipt["readings"][0]["l1"] * Fraction(receipt["readings"][0]["unit"])


def test_b3_a_filled_column_is_believed_where_the_catalog_shows_it_alone():
    catalog, told = filled_world(", missing = 65")
    receipt = quoted_as(catalog, "SELECT SUM(weight) FROM t", filled=True)
    assert moved(receipt) == 10
    assert holds(receipt, catalog=catalog, declared=told)
    one, two, found = both(receipt)
    assert (one, two) == (False, False)
    assert {step.name for step in found.steps if not step.holds} == {"sensitivity", "independent check"}
    assert "only the catalog can show it" in str(found)
    assert "only --catalog shows that weight is never missing" in str(found)


@pytest.mark.parametrize("missing", ["", ', missing = "drop"', ", missing = nan", ", missing = { value = nan }"])
def test_b3_a_filled_column_that_the_catalog_does_not_fill_is_refused(missing):
    catalog, told = filled_world(missing)
    lie = quoted_as(catalog, "SELECT SUM(weight) FROM t", filled=True)
    assert both(lie, catalog=catalog, declared=told)[:2] == (False, False)
    truth = quoted_as(catalog, "SELECT SUM(weight) FROM t", filled=False)
    assert holds(truth, catalog=catalog, declared=told)
    assert holds(truth)
    assert (moved(truth), moved(lie)) == (70, 10)


def test_b3_an_expression_is_never_filled():
    catalog, told = filled_world(", missing = 65")
    for text in ("SELECT SUM(weight + 1) FROM t", "SELECT COUNT(weight + 1), SUM(weight) FROM t"):
        receipt = quoted_as(catalog, text, filled=True)
        for place, call in enumerate(receipt["plan"]["calls"]):
            if not call["column"]["filled"]:
                lie = changed(receipt, ("plan", "calls", place, "column", "filled"), True)
                lie["plan_sha256"] = sha(lie["plan"])
                one, two, found = both(signed(lie), catalog=catalog, declared=told)
                assert (one, two) == (False, False)
                assert "an expression has no declared value" in str(found)


SCANNED = ("source", "source", "source")
PUBLIC_FACTS: dict[str, tuple[tuple[Any, ...], Any]] = {  # of a plan: all that a unit's reach or a reading rests on
    "neighbours": (SCANNED, {"neighbours": "add-remove", "units": None}),
    "public n": ((*SCANNED, "units"), 41),
    "unit": (SCANNED, {"unit": "id", "unit_index": 0}),
    "max_rows": (("source", "max_rows"), 2), "max_groups": (("source", "max_groups"), 2),
    "lower": (("calls", 0, "column", "lower"), {"exact": "61/1"}),
    "upper": (("calls", 0, "column", "upper"), {"exact": "69/1"}),
    "filled": (("calls", 0, "column", "filled"), False),
}


@pytest.mark.parametrize("fact", PUBLIC_FACTS)
def test_b3_every_public_fact_of_a_plan_is_compared_with_the_catalog(fact):
    """With everything that follows from it made to agree, only the catalog tells; what an engine does itself (clamping
    to bounds, caps) the second verifier leaves to the first, in these words."""
    catalog, _ = filled_world(", missing = 65")
    receipt = quoted_as(catalog, "SELECT SUM(weight) FROM t", filled=True)
    path, new = PUBLIC_FACTS[fact]
    old = at(receipt["plan"], path)
    plan = plan_of(changed(receipt["plan"], path, old | new if path == SCANNED else new))
    assert disagreement(plan_of(receipt["plan"]), catalog) is None
    assert disagreement(plan, catalog) is not None


# --- B4, B5 -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cost", "spent", "left", "budget", "currency"])
def test_b4_what_is_printed_beside_a_receipt_is_the_receipts(name):
    for kind in ("an answer", "a batch"):
        content = copy.deepcopy(files()[kind])
        beside = content[-1] if isinstance(content, list) else content
        beside[name] = "rho" if name == "currency" else "0.015"
        one, two, found = both(content)
        assert (one, two) == (False, False), kind
        assert name in str(next(step for step in found.steps if step.name.endswith("beside")))


def test_b4_of_a_repeat_where_the_ledger_stands_is_named_as_not_checked():
    content = files()["a repeat"]
    assert content["repeated"]
    one, two, found = both(content | {"spent": "0.7", "left": "0.1"})
    assert (one, two) == (True, True)
    assert "spent and left" in " ".join(found.not_checked)
    assert both(content | {"cost": "0.1"})[:2] == (False, False)


def test_values_within_their_bars_are_those_and_answers_of_earlier_versions_do_not_say():
    content = files()["an answer"]
    assert both({name: one for name, one in content.items() if name != WITHIN})[:2] == (True, True)
    for wrong in ([[not one for one in row] for row in content[WITHIN]], content[WITHIN][1:], None):
        assert both(content | {WITHIN: wrong})[:2] == (False, False)


@pytest.mark.parametrize("name", ["signature", "public_key"])
def test_b5_signatures_and_keys_have_one_spelling(name):
    receipt = files()["an answer"]["receipt"]
    right = receipt[name]
    for wrong in (right.upper(), f" {right}", f"{right}\n", f"{right[:2]} {right[2:]}", f"0x{right}", right[:-1]):
        lie = receipt | {name: wrong}
        assert both(lie)[:2] == (False, False)
        if name == "public_key":
            told = verify(receipt, public_key=wrong)
            assert not told.holds
            assert "as `dpcurator key` prints it" in str(told)
            assert alone.steps(receipt, key=wrong)[1][1] is False


# --- a curator that lies ----------------------------------------------------------------------------------------------


def _signed_again(answer: dict[str, Any]) -> dict[str, Any]:
    return answer | {"receipt": signed(answer["receipt"] | {"answer_sha256": sha({n: answer[n] for n in CORE})})}


KEYED = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
TWO = "COUNT(*) AS n FROM visits GROUP BY city, smoker"


@pytest.mark.parametrize("query", [
    f"SELECT smoker, city, city AS again, {TWO}", f"SELECT city, {TWO}", f"SELECT {TWO}",
    f"SELECT smoker, city, {TWO} LIMIT 3 OFFSET 2", f"SELECT city, smoker, {TWO} ORDER BY n DESC LIMIT 3",
    f"SELECT city, smoker, {TWO} HAVING n > 0", "SELECT FLOOR(age / 10) AS d, COUNT(*) AS n FROM visits GROUP BY d",
    "SELECT day, COUNT(*) AS n FROM visits GROUP BY day LIMIT 9 OFFSET 3",
])
def test_the_keys_of_an_honest_answer_are_those_of_the_catalog(query):
    world = CATALOGS["approximate"]
    answer = curator(world).ask(query, spend="5%").as_json()
    told = verify(answer["receipt"], answer=answer, catalog=world)
    assert [str(step) for step in told.steps if not step.holds] == []


@pytest.mark.parametrize("query", [KEYED, f"{KEYED} ORDER BY n", f"{KEYED} LIMIT 2", f"{KEYED} HAVING n > -10000"])
def test_a_key_that_the_catalog_does_not_list_is_found_where_it_is_given(query):
    """A curator that lies renames a group in a paid answer, gives one twice, or tells the groups in another order."""
    world = CATALOGS["approximate"]
    honest = curator(world).ask(query, spend="5%").as_json()
    columns: dict[str, Any] = {column.name: {} for column in world.tables[0].columns}
    columns["city"] = {"keys": [key for column in world.tables[0].columns if column.name == "city"
                                for key in column.keys or ()]}
    declared = {"curator": {"protects": world.protects}, "ledger": {"epsilon": 40},
                "tables": {"visits": {"unit": "patient", "columns": columns}}}

    def told(answer: dict[str, Any]) -> tuple[bool, bool, bool]:
        one = {step.name: step.holds for step in verify(answer["receipt"], answer=answer, catalog=world).steps}
        bare = {step.name: step.holds for step in verify(answer["receipt"], answer=answer).steps}
        two = {name: holds for name, holds, _ in alone.steps(answer["receipt"], catalog=declared, printed=answer)}
        return one["answer"], two["answer"], bare["answer"]

    assert told(honest) == (True, True, True)
    free = files()["a public answer"]
    assert alone.answer(free["receipt"], free, declared)
    free = free | {"rows": [[{**free["rows"][0][0], "value": "Atlantis"}, *free["rows"][0][1:]], *free["rows"][1:]]}
    with pytest.raises(alone.No, match="not among those that are declared"):
        alone.answer(free["receipt"] | {"answer_sha256": sha({name: free[name] for name in CORE})}, free, declared)
    renamed, twice, turned = (copy.deepcopy(honest) for _ in range(3))
    renamed["rows"][0][0]["value"] = "Atlantis"
    assert told(_signed_again(renamed)) == (False, False, True)
    twice["rows"][0][0] = twice["rows"][1][0]
    assert told(_signed_again(twice))[0] is False
    turned["rows"].reverse()
    assert told(_signed_again(turned))[0] is ("ORDER BY" in query)


def test_time_and_data_version_are_the_ledgers_alone_and_named_so():
    receipt = files()["an answer"]["receipt"]
    for lie in ({"data_version": 7}, {"time": "2020-01-01T00:00:00.000000Z"}):
        changed = signed(receipt | lie)
        assert verify(changed).holds
        assert "time and data version (only the ledger tells them)" in verify(changed).not_checked
    assert "the time and the data version" in " ".join(alone.NOT_CHECKED.split())


@pytest.mark.parametrize("kind", ["an answer", "a batch"])
def test_one_charge_does_not_pay_for_two_answers_to_one_question(kind):
    """Noise drawn twice under one charge reveals twice as much: each answer has its own good signature."""
    mine = copy.deepcopy(_flat(files()[kind])[0])
    mine["rows"][0][1] = {"value": 12, "error": 3000.0, "low": -2988.0, "high": 3012.0}
    mine["within_bar"][0][1] = True
    mine["receipt"] = signed(mine["receipt"] | {"answer_sha256": sha({name: mine[name] for name in CORE})})
    assert holds(mine)
    one, two, found = both([*_flat(files()[kind]), mine])
    assert (one, two) == (False, False)
    assert "one charge has two receipts for one question" in str(found)
    assert both([*_flat(files()[kind]), *_flat(files()[kind])])[:2] == (True, True)  # the same ones printed twice


@pytest.mark.parametrize("text", ["x\nok  ledger: fine\nit holds", "\x1b[2K", "\ud800", "x" * 10**5, "\u202ex"])
def test_no_text_of_a_receipt_writes_a_line_of_its_own(text):
    """A name of a table in a signed plan could end the line it stands in, or steer the terminal."""
    receipt = changed(files()["an answer"]["receipt"], ("plan", "source", "source", "source", "table"), text)
    receipt = signed(receipt | {"plan_sha256": sha(receipt["plan"])})
    found = both(receipt)[2]
    assert len(str(found).splitlines()) == len(found.steps) + 1 + len(found.not_checked)
    assert all(len(line) < 5100 and line.isprintable() for line in str(found).splitlines())


@pytest.mark.parametrize(
    ("path", "new"),
    [(("source", "source", "source", "unit_index"), -1), (("source", "source", "source", "unit_index"), "0"),
     (("source", "source", "columns", 0, "digest"), "x"), (("source", "source", "columns", 0, "digest"), "")],
)
def test_a_plan_names_a_column_and_a_list_that_can_be(path, new):
    receipt = changed(files()["an answer"]["receipt"], ("plan", *path), new)
    assert both(signed(receipt | {"plan_sha256": sha(receipt["plan"])}))[:2] == (False, False)


def test_an_answer_with_more_rows_than_keys_does_not_hold():
    content = copy.deepcopy(files()["a public answer"])
    content["rows"].append(content["rows"][0])
    content["receipt"] = signed(content["receipt"] | {"answer_sha256": sha({name: content[name] for name in CORE})})
    assert both(content)[:2] == (False, False)


def test_fields_beside_an_answer_are_compared_when_it_is_given_to_verify():
    content = files()["an answer"]
    assert verify(content["receipt"], answer=content).holds
    assert verify(content["receipt"], answer={name: content[name] for name in CORE}).holds
    for lie in (content | {"cost": "0.001"}, {**content, "receipt": files()["a repeat"]}, content | {"mean": 3},
                {name: one for name, one in content.items() if name != "receipt"}):
        assert {step.name for step in verify(content["receipt"], answer=lie).steps if not step.holds} == {"beside"}


def signed_anew(content: Any, **changes: Any) -> Any:
    """The answer with other fields, and a receipt of just that."""
    lie = {name: one for name, one in copy.deepcopy(content).items() if name != WITHIN} | changes
    return lie | {"receipt": signed(lie["receipt"] | {"answer_sha256": sha({name: lie[name] for name in CORE})})}


def moved_by(cell: Any, step: int) -> Any:
    """The cell with its value and its interval further up."""
    return cell | {name: cell[name] + step for name in ("value", "low", "high")}


@pytest.mark.parametrize("changes", [{"error": 0.5}, {"low": -1e-3, "high": 1e-3}, {"error": 0.5, "low": 0, "high": 0}])
@pytest.mark.parametrize("kind", ["an answer", "an answer of chosen keys", "answers"])
def test_an_error_bar_narrower_than_its_noise_does_not_hold(kind, changes):
    """Of a count or a sum it follows from the noise; of other values it is named as not checked by the first verifier,
    and of all by the second."""
    content = _flat(files()[kind])[-1 if kind == "answers" else 0]
    rows = copy.deepcopy(content["rows"])
    cell = rows[0][1]
    cell |= {name: float(cell["value"] + end) if name != "error" else end for name, end in changes.items()}
    lie = signed_anew(content, rows=rows)
    one, two, found = both(lie)
    assert (one, two) == (False, True)
    assert "an error bar is narrower than its noise" in str(found)
    assert "error bars of averages" in " ".join(found.not_checked)
    assert "its error bars" in alone.NOT_CHECKED


def test_a_number_that_public_facts_give_is_that_number_in_a_paid_answer():
    catalog, told = filled_world(", missing = 65")
    weights = {"t0": {"c0": list(range(40)), "c1": [65.0] * 40}}
    made = Curator(catalog, curator(catalog).ledger, KEY, lambda: Reference(weights), cut=False)
    content = json.loads(json.dumps(made.ask("SELECT COUNT(*), SUM(weight) FROM t", epsilon=1).as_json()))
    outside = {"catalog": catalog, "declared": told}
    assert both(content, **outside)[:2] == (True, True)
    assert content["rows"][0][0]["value"] == 40
    lie = signed_anew(content, rows=[[moved_by(content["rows"][0][0], 1), content["rows"][0][1]]])
    one, _, found = both(lie, **outside)
    assert not one
    assert "a number that public facts give is another" in str(found)


# --- every change -----------------------------------------------------------------------------------------------------

NAMED = {"repeated", "spent", "left", "budget"}  # not checked in some files; then named by both


def edits(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Each part with others for it, outside of receipts, and each receipt as a whole."""
    if path[-1:] == ("receipt",):
        mine = [one.get("receipt", one) for one in _flat(files()["a batch"])]
        yield from ((path, other) for other in (None, {}, *(one for one in mine if one != content)))
    elif isinstance(content, dict):
        for name in content:
            if name != WITHIN:  # which earlier versions did not print
                yield path, {key: one for key, one in content.items() if key != name}
            yield path, {f"{key}_" if key == name else key: one for key, one in content.items()}
        yield path, content | {"more": 1}
    elif isinstance(content, list) and content:
        yield path, content[:-1]
        yield path, [*content, content[-1]]
        yield path, content[::-1]
    elif not isinstance(content, list):
        yield from ((path, other) for other in others(content))
    if path[-1:] != ("receipt",) and isinstance(content, dict | list):
        for name, inner in content.items() if isinstance(content, dict) else enumerate(content):
            yield from edits(inner, (*path, name))


def _flat(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content]


PARTS = 4  # of all changes, in a long run


def edited(share: float, seed: str, part: int | None = None) -> Counter[str]:
    """Tries this share of all changes of all files, or every PARTS-th of them, and counts what became of them."""
    luck, met = random.Random(seed), Counter()
    for kind, content in files().items():
        key = _flat(content)[0].get("receipt", {}).get("public_key", KEY.public)
        for number, (path, new) in enumerate(edits(content)):
            if luck.random() > share or (part is not None and number % PARTS != part):
                continue
            lie = changed(content, path, new) if path else new
            if lie == content:
                continue
            found = verify_content(lie, json.dumps(lie).encode(), None, key)
            caught = (not all(step.holds for step in found.steps[:-1]), not found.steps[-1].holds)
            met["tried"] += 1
            if caught == (True, True):
                met["found by both"] += 1
                continue
            assert caught == (False, False), (kind, path, caught)
            if not path:  # answers of a list, each with its receipt: left out, twice, in another order
                assert isinstance(content, list)
                assert "whether a list is whole" in " ".join(found.not_checked)
                assert "whether a list is whole and in order" in alone.NOT_CHECKED
            else:
                name = path[-1] if isinstance(path[-1], str) else path[-2]
                assert name in NAMED, (kind, path)
                assert name in " ".join(found.not_checked), (kind, path, found.not_checked)
                assert f"`{name}`" in alone.NOT_CHECKED
            met["named as not checked"] += 1
    return met


def test_every_change_of_a_printed_file_is_found_by_both_or_named_by_both():
    met = edited(0.01, "printed")
    assert met["tried"] > 60
    assert met["found by both"] > 0.9 * met["tried"]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_all_changes_of_printed_files_are_found_by_both_or_named_by_both(part):
    met = edited(1.0, "all", part)
    assert met["tried"] > 6000 / PARTS, met
    assert met["found by both"] > 0.95 * met["tried"], met


def test_a_part_of_a_batch_says_which_questions_are_not_there():
    batch = files()["a batch"]
    found = both(batch[:2])[2]
    assert "questions 2 of the batch charged as event" in " ".join(found.not_checked)
    assert "questions" not in " ".join(both(batch)[2].not_checked)


def test_an_answer_prints_the_fields_that_the_verifiers_know():
    assert set(files()["an answer"]) == {*CORE, *BESIDE, WITHIN} == alone.ANSWER | {WITHIN}
    assert alone.FIELDS == FIELDS


# --- reading a file ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "words", "cure"),
    [
        (None, "cannot be opened: no such file", "dpcurator receipt ID > receipt.json"),
        (b"city n\nLeeds 7", "not JSON", "--json"), (b"", "not JSON", "--json"),
        (b"\xff\xfe{\x00}\x00", "not UTF-8", "UTF-8"), (b'{"a": 1, "a": 2}', "the name 'a' is given twice", "print it"),
        (b'{"a": NaN}', "NaN is no number", "print it"), (b"[" * 10**5, "nested too deeply", "print it"),
        (b" " * (16 * 2**20 + 1), "larger than 16 MiB", "two files"),
    ],
)
def test_a_file_that_cannot_be_read_says_why_and_what_to_do(tmp_path, content, words, cure):
    from dpcurator.cli.verify import verify_receipt

    file = tmp_path / "receipt.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(Misconfigured) as caught:
        verify_receipt(file, None, None)
    assert words in caught.value.what
    assert cure in caught.value.cure
    assert caught.value.where == str(file)
    with pytest.raises(Misconfigured, match="is a directory"):
        verify_receipt(tmp_path, None, None)


def test_a_byte_order_mark_before_a_file_is_no_fault(tmp_path):
    from dpcurator.cli.verify import verify_receipt

    file = tmp_path / "receipt.json"
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(files()["an answer"]).encode())
    assert verify_receipt(file, KEY.public, None).holds
