"""Check a receipt: what it claims is derived again, step by step, from the plan it holds.

By itself a receipt shows: its signature; that its plan's sensitivity is what it says (the stability fold, again); that
each mechanism's loss at that sensitivity is within its price, from the exact law P(z)/P(z + s) <= exp(s/scale); that
the prices add up to the cost; and that every reading the plan needs was paid for. With the catalog: that the plan's
public facts are the catalog's. With the ledger: that its chain is whole and holds this very charge and answer.
Checked in tests/test_verify.py, which changes every field of a receipt in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpcurator.catalog.model import EACH_ROW, Catalog
from dpcurator.errors import DpcuratorError
from dpcurator.ledger import Ledger
from dpcurator.ledger.events import Answered, Charged
from dpcurator.ledger.keys import canonical
from dpcurator.ledger.keys import verify as signed_by
from dpcurator.numbers import decimal_text
from dpcurator.plan.canonical import as_json, digest, plan_of
from dpcurator.plan.nodes import Measured, Plan, Where
from dpcurator.plan.stability import Steps, derivation, reading, stability
from dpcurator.pricing.grids import nearest
from dpcurator.pricing.quote import SUMMED, asks_of
from dpcurator.receipt import FORMAT, sha
from dpcurator.values import Json

_FIELDS: Final = {
    "format", "request", "analyst", "time", "protects", "neighbours", "plan", "plan_sha256", "reach", "readings",
    "epsilon", "delta", "confidence", "parameters_sha256", "answer_sha256", "ledger", "catalog_sha256", "data_version",
    "software", "public_key", "signature",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """One thing checked: what it is, whether it holds, and what was found."""

    name: str
    holds: bool
    words: str

    def __str__(self) -> str:
        return f"{'ok ' if self.holds else 'NO '} {self.name}: {self.words}"


@dataclass(frozen=True, slots=True)
class Verification:
    """All steps in order. `holds` only when every one of them does."""

    steps: tuple[Step, ...]

    @property
    def holds(self) -> bool:
        return all(step.holds for step in self.steps)

    def as_json(self) -> Json:
        steps = [{"name": s.name, "holds": s.holds, "words": s.words} for s in self.steps]
        return {"holds": self.holds, "steps": steps}

    def __str__(self) -> str:
        verdict = "the receipt holds" if self.holds else "the receipt does NOT hold"
        return "\n".join([*map(str, self.steps), verdict])


class _Wrong(Exception):
    """Carries the words of a check that fails."""


def verify(
    receipt: Any,
    *,
    catalog: Catalog | None = None,
    ledger: Ledger | None = None,
    public_key: str | None = None,
    answer: Json | None = None,
) -> Verification:
    """Check a receipt. public_key: the steward's, hexadecimal, from elsewhere. answer: its `core_json`, to match."""
    steps: list[Step] = []

    def check(name: str, claim: Callable[[], str]) -> bool:
        try:
            steps.append(Step(name, True, claim()))
        except _Wrong as wrong:
            steps.append(Step(name, False, str(wrong)))
        except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError, IndexError, DpcuratorError):
            steps.append(Step(name, False, "this part of the receipt is malformed"))
        return steps[-1].holds

    if not check("form", lambda: _form(receipt)):
        return Verification(tuple(steps))
    check("signature", lambda: _signature(receipt, public_key))
    if check("plan", lambda: _plan(receipt)):
        check("sensitivity", lambda: _sensitivity(receipt))
        check("noise", lambda: _noise(receipt))
        check("cost", lambda: _cost(receipt))
        if catalog is not None:
            check("catalog", lambda: _catalog(receipt, catalog))
    if answer is not None:
        check("answer", lambda: _same(sha(answer), receipt["answer_sha256"], "the answer's values"))
    if ledger is not None:
        check("ledger", lambda: _ledger(receipt, ledger))
    return Verification(tuple(steps))


def _require(holds: bool, words: str) -> None:
    if not holds:
        raise _Wrong(words)


def _same(found: object, claimed: object, what: str) -> str:
    _require(found == claimed and type(found) is type(claimed), f"{what} differ from what the receipt says")
    return f"{what} are those of the receipt"


def _form(receipt: Any) -> str:
    _require(isinstance(receipt, dict), "this is not a receipt")
    _require(receipt.get("format") == FORMAT, f"its format is not {FORMAT!r}")
    _require(set(receipt) == _FIELDS, "its fields are not those of a receipt")
    return FORMAT


def _signature(receipt: Json, public_key: str | None) -> str:
    body = {name: value for name, value in receipt.items() if name != "signature"}
    key = receipt["public_key"]
    _require(signed_by(key, canonical(body), receipt["signature"]), "the signature does not match the content")
    _require(public_key in (None, key), f"it was signed with another key: {key}")
    known = "the key you gave" if public_key is not None else "the key it names: compare it with the steward's"
    return f"signed with {known} ({key[:16]}...)"


def _plan(receipt: Json) -> str:
    plan = plan_of(receipt["plan"])
    _require(as_json(plan) == receipt["plan"], "the plan is not in its one spelling")
    _require(digest(plan) == receipt["plan_sha256"], "the plan's digest is another")
    source = plan.source.source
    rows = source.source.source.table if isinstance(source.source, Where) else source.source.table
    return f"a question about {rows}, {source.keys} keys, {len(plan.calls)} aggregates"


def _claimed(receipt: Json) -> list[tuple[Any, Json]]:
    """The plan's readings, each with what the receipt says of it; the receipt must pay for all of them, once."""
    asks = asks_of(plan_of(receipt["plan"]))
    claims = receipt["readings"]
    _require([as_json(ask) for ask in asks] == [claim["ask"] for claim in claims],
             "the readings paid for are not those the plan needs")  # fmt: skip
    return list(zip(asks, claims, strict=True))


def _sensitivity(receipt: Json) -> str:
    plan = plan_of(receipt["plan"])
    reach = stability(plan.source)
    claimed = receipt["reach"]
    found = {"rows": reach.rows, "groups": reach.groups, "keys": reach.keys, "one": reach.one}
    _require(claimed == found, "the reach is not what the plan implies")
    words: list[str] = []
    for ask, claim in _claimed(receipt):
        steps = Steps(claim["grid"]["lower"], claim["grid"]["upper"], claim["grid"]["exponent"])
        _grid(ask.what, ask.column, steps)
        bound = reading(ask, reach, steps)
        for name in ("coordinates", "linf", "l1", "l2_squared"):
            _require(claim[name] == getattr(bound, name), f"{name} of a reading should be {getattr(bound, name)}")
        _require(claim["unit"] == str(bound.unit), "the unit of a reading is another")
        _require(claim["derivation"] == list(derivation(ask, reach, bound)), "the derivation is another")
        words.append(decimal_text(bound.l1 * bound.unit))
    return f"one unit moves the readings by at most {', '.join(words)} (l1), derived again from the plan"


def _grid(what: str, column: Measured | None, steps: Steps) -> None:
    """The grid is the column's bounds, rounded to its steps; a count has none."""
    if column is None or what not in SUMMED or column.lower is None or column.upper is None:
        _require(steps == Steps(), "a count has no grid")
        return
    _require(column.kind == "float" or steps.exponent == 0, "an integer column's grid is the integers")
    rounded = (nearest(column.lower, steps.exponent), nearest(column.upper, steps.exponent))
    _require((steps.lower, steps.upper) == rounded, "a grid does not hold the column's bounds")


def _noise(receipt: Json) -> str:
    losses: list[str] = []
    for _, claim in _claimed(receipt):
        _require(claim["mechanism"] == "discrete_laplace", "the mechanism is not one this version knows")
        scale, epsilon = Fraction(claim["scale"]), Fraction(claim["epsilon"])
        _require(scale > 0 and str(scale) == claim["scale"], "a noise scale is malformed")
        # ln P(z)/P(z + s) = (|z + s| - |z|)/scale <= |s|/scale for each coordinate, so l1/scale for the vector
        _require(claim["l1"] / scale <= epsilon, f"noise of scale {claim['scale']} loses more than {claim['epsilon']}")
        losses.append(decimal_text(epsilon))
    return f"discrete Laplace; losses {', '.join(losses)} from the exact law"


def _cost(receipt: Json) -> str:
    total = sum((Fraction(claim["epsilon"]) for _, claim in _claimed(receipt)), Fraction(0))
    _require(str(total) == receipt["epsilon"] and receipt["delta"] == "0", "the cost is not the sum of the losses")
    mechanisms = [{k: v for k, v in claim.items() if k != "derivation"} for claim in receipt["readings"]]
    parameters = {name: receipt[name] for name in ("epsilon", "delta", "confidence")} | {"mechanisms": mechanisms}
    _require(sha(parameters) == receipt["parameters_sha256"], "the parameters' digest is another")
    return f"epsilon {decimal_text(total)} in all"


def _catalog(receipt: Json, catalog: Catalog) -> str:
    _require(receipt["protects"] == catalog.protects, "it protects something else")
    _require(receipt["neighbours"] == catalog.neighbours, "its neighbours are others")
    plan = plan_of(receipt["plan"])
    source = plan.source.source.source
    rows = source.source if isinstance(source, Where) else source
    table = next((table for table in catalog.tables if table.name == rows.table), None)
    _require(table is not None and table.private, "the catalog has no such private table")
    assert table is not None
    _require((rows.unit or EACH_ROW) == table.unit, "the unit is not the catalog's")
    caps = (1, 1) if rows.unit is None else (table.max_rows, table.max_groups or plan.source.max_groups)
    _require((plan.source.max_rows, plan.source.max_groups) == caps, "max_rows or max_groups is not the catalog's")
    for measured in _columns(plan):
        column = table.columns[measured.index]
        bounds = (Fraction(0), Fraction(1)) if column.type == "boolean" else (column.lower, column.upper)
        same = (column.name, column.type) == (measured.name, measured.type)
        _require(same and bounds == (measured.lower, measured.upper), f"{measured.name!r} is declared otherwise")
    for key in plan.source.source.columns:
        column = table.columns[key.index]
        _require(column.name == key.name and len(column.keys or ()) == key.count, f"{key.name!r} has other keys")
    if catalog.data_version == receipt["data_version"]:
        _require(receipt["catalog_sha256"] == catalog.digest, "the catalog has changed since, in what it declares")
    return "every public fact the sensitivity rests on is declared in the catalog"


def _columns(plan: Plan) -> list[Measured]:
    return [call.column for call in plan.calls if call.column is not None]


def _ledger(receipt: Json, ledger: Ledger) -> str:
    position, head = receipt["ledger"]["position"], receipt["ledger"]["head"]
    verdict = ledger.verify([(position, head)])
    _require(verdict.sound, verdict.problem or "")
    charged = answered = None
    for entry in ledger.events():
        event = entry.event
        if isinstance(event, Charged) and entry.position == position:
            charged = event
        if isinstance(event, Answered) and event.request == receipt["request"]:
            answered = event
    if charged is None or answered is None:
        raise _Wrong("the ledger has no such charge, or no answer to it")
    _require(charged.request == receipt["request"], "the charge at this position is another request's")
    claims = (receipt["analyst"], receipt["plan_sha256"], receipt["catalog_sha256"], receipt["data_version"])
    held = (charged.analyst, charged.plan, charged.catalog, charged.data_version)
    _require(claims == held, "the ledger holds another question under this request")
    _require(str(charged.epsilon) == receipt["epsilon"], "the ledger charged another price")
    return f"the chain of {verdict.position} events is whole and holds this charge as event {position}"
