"""Check a receipt: what it claims is derived again, step by step, from the plan it holds.

By itself a receipt shows: its signature; that its plan's sensitivity is what it says (the stability fold, again); that
each mechanism's loss at that sensitivity is within its price (Laplace: P(z)/P(z + s) <= exp(s/scale); Gaussian: rho =
l2^2/(2 variance), or its own delta); that the rule for unknown keys keeps its promise; that the losses add up to the
cost; that every reading the plan needs was paid for; and that grid, split and noise are those
the plan gets at this price. With the catalog: that the plan's public facts are the catalog's. With the ledger: that its
chain is whole and holds this very charge and answer.
Checked in tests/test_verify.py, which changes every field of a receipt in turn.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import Any, Final

from dpcurator.aggregates import rule_of
from dpcurator.catalog.model import Catalog
from dpcurator.engines.limits_rows import Rows
from dpcurator.errors import DpcuratorError
from dpcurator.ledger import Ledger
from dpcurator.ledger.events import Answered, Charged
from dpcurator.ledger.keys import canonical
from dpcurator.ledger.keys import verify as signed_by
from dpcurator.mechanisms import DiscreteGaussian
from dpcurator.mechanisms.key_selection import selection_of
from dpcurator.numbers import decimal_text
from dpcurator.plan.canonical import as_json, digest, plan_of
from dpcurator.plan.facts import disagreement
from dpcurator.plan.nodes import Key, Measured, Plan, Where
from dpcurator.plan.retyped import misfit
from dpcurator.plan.rows import Field, walk
from dpcurator.plan.stability import Steps, derivation, reading, selection_reach, stability
from dpcurator.pricing.grids import nearest
from dpcurator.pricing.losses import PRICED, losses_of
from dpcurator.pricing.notes import notes
from dpcurator.pricing.point import SLACK, point_of
from dpcurator.pricing.prices import Price
from dpcurator.pricing.quote import SUMMED, asks_of, mechanism_json, priced_at
from dpcurator.pricing.selecting import words
from dpcurator.privacy import zcdp
from dpcurator.privacy.loss import Loss
from dpcurator.receipt import FORMAT, PARTS, batch_digest, sha
from dpcurator.values import Cell, Json, Request

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_AMOUNT: Final = re.compile(r"[0-9]{1,1400}(/[0-9]{1,1400})?")
MOST_COLUMNS: Final = 10**6  # of a table that a plan speaks of
MOST_LOSSES: Final = 5000  # of a batch: more do not fit in the parameters that a ledger takes
_VERSION: Final = re.compile(r"[0-9A-Za-z.+_-]{1,60}|unknown")
_SPELLINGS: Final = {  # of what nothing else in a receipt implies
    "request": re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}"), "analyst": re.compile(r"(?s).+"),
    "time": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z"),
    "answer_sha256": _DIGEST, "catalog_sha256": _DIGEST, "plan_sha256": _DIGEST, "parameters_sha256": _DIGEST,
}  # fmt: skip
_PLACE: Final = {"position", "head", "spent", "remaining"}
_AS_ONE: Final = {"point", "losses"}  # of a batch that was charged as one point
_FIELDS: Final = {
    "format", "request", "analyst", "time", "protects", "neighbours", "plan", "plan_sha256", "reach", "readings",
    "price", "batch", "selection", "epsilon", "rho", "delta", "confidence", "parameters_sha256", "answer_sha256",
    "ledger", "catalog_sha256", "data_version", "software", "public_key", "signature",
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
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, DpcuratorError):
            steps.append(Step(name, False, "this part of the receipt is malformed"))
        return steps[-1].holds

    if not check("form", lambda: _form(receipt)):
        return Verification(tuple(steps))
    check("signature", lambda: _signature(receipt, public_key))
    if check("plan", lambda: _plan(receipt)):
        check("sensitivity", lambda: _sensitivity(receipt))
        check("noise", lambda: _noise(receipt))
        check("cost", lambda: _cost(receipt))
        check("batch", lambda: _batch(receipt))
        check("choice", lambda: _choice(receipt))
        if catalog is not None:
            check("catalog", lambda: _catalog(receipt, catalog))
    if answer is not None:
        check("answer", lambda: _answer(receipt, answer))
    if ledger is not None:
        check("ledger", lambda: _ledger(receipt, ledger, answer))
    return Verification(tuple(steps))


def one_charge(receipts: Sequence[Any]) -> Step:
    """Whether those that name one event of a ledger tell the same of it, and so list the same losses of their batch.

    A receipt alone holds only its own losses to be true; each of a whole batch holds its own, and these are all.
    """
    said: dict[bytes, bytes] = {}
    try:
        for receipt in receipts:
            batch = {name: part for name, part in (receipt["batch"] or {}).items() if name != "index"}
            told = {name: receipt[name] for name in ("request", "analyst", "time", "ledger", "data_version")}
            event = canonical([receipt["public_key"], receipt["ledger"]["head"]])
            if said.setdefault(event, canonical(told | {"batch": batch})) != canonical(told | {"batch": batch}):
                return Step("charges", False, "two receipts of one charge tell different things of it")
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return Step("charges", False, "a receipt is malformed")
    return Step("charges", True, "receipts of one charge tell the same of it")


def _require(holds: bool, words: str) -> None:
    if not holds:
        raise _Wrong(words)


def _answer(receipt: Json, answer: Json) -> str:
    """It is the answer whose hash was signed; its columns, confidence, notes and rows are such as its plan has."""
    _require(sha(answer) == receipt["answer_sha256"], "the answer's values differ from what the receipt says")
    plan = plan_of(receipt["plan"])
    titles, ways = [output.title for output in plan.outputs], [output.shown for output in plan.outputs]
    _require((answer["columns"], answer["shown"]) == (titles, ways), "the answer has other columns than the plan")
    _require(answer["confidence"] == receipt["confidence"], "the answer has another confidence than was paid for")
    told = list(notes(plan, stability(plan.source), _amount(receipt["confidence"])))
    _require(answer["notes"] == told, "the answer's notes are not those of its plan")
    rows, source = answer["rows"], plan.source.source
    _require(plan.limit is None or len(rows) <= plan.limit, "the answer has more rows than LIMIT lets through")
    if source.listed:
        most = max(0, source.keys - plan.offset)
        most = most if plan.limit is None else min(most, plan.limit)
        _require(len(rows) == most or (plan.having is not None and len(rows) < most), "the answer has other rows")
    for row in rows:
        _require(len(row) == len(titles) and all(map(_cell, row, ways)), "a value of the answer is malformed")
    _others(plan, rows)
    return "the answer's values are those of the receipt"


def _others(plan: Plan, rows: list[list[Json]]) -> None:
    """A plan with one more row for all keys that are not shown has it once, each of its keys marked; others have none.

    Without a key among its columns no row of the answer can be told from another.
    """
    keyed = [isinstance(output.part, Key) for output in plan.outputs]
    marked = [[cell.get("other", False) for cell in row] for row in rows]
    count = sum(map(any, marked))
    whole = all(flags == keyed for flags in marked if any(flags))
    empty = all(cell["value"] is None for row in rows for cell in row if cell.get("other", False))
    _require(whole and empty and count <= plan.source.source.other, "a row stands for other keys that its plan has not")
    cut = plan.having is not None or plan.limit is not None or plan.offset
    _require(
        bool(count or cut or not plan.source.source.other or not any(keyed)), "the row of all other keys is missing"
    )


def _cell(cell: Json, way: str) -> bool:
    """Whether it is a value as its column shows them, within its interval."""
    value, ends = cell["value"], (cell["error"], cell["low"], cell["high"])
    kinds = {"whole": (int,), "number": (float,), "integer": (int,), "float": (float,), "truth": (bool,),
             "boolean": (bool,), "date": (str, int), "timestamp": (str, int)}  # fmt: skip
    if Cell(**cell).as_json() != cell or not all(end is None or type(end) is float for end in ends):
        return False
    if way not in ("whole", "number"):
        return ends == (None, None, None) and (value is None or type(value) in kinds.get(way, (str,)))
    if value is None:
        return ends[0] is None
    error, low, high = ends
    within = (low is None or low <= value) and (high is None or value <= high)
    return type(value) in kinds[way] and (within or way == "whole") and (error is None or error >= 0)


def _form(receipt: Any) -> str:
    _require(isinstance(receipt, dict), "this is not a receipt")
    _require(not receipt.get("made_up"), "this is the answer of a rehearsal: its rows are made up, it has no receipt")
    _require(receipt.get("format") == FORMAT, f"its format is not {FORMAT!r}")
    _require(set(receipt) == _FIELDS, "its fields are not those of a receipt")
    for name, spelling in _SPELLINGS.items():
        _require(_spelled(spelling, receipt[name]), f"its {name} is not spelled as one")
    version, place, parts = receipt["data_version"], receipt["ledger"], receipt["software"]
    _require(type(version) is int and version >= 0, "its data version is no number")
    _require(isinstance(place, dict) and set(place) == _PLACE, "its place in the ledger is malformed")
    _require(type(place["position"]) is int and place["position"] >= 2, "a charge is not the first event of a ledger")
    _require(_spelled(_DIGEST, place["head"]), "its head is no digest")
    _require(isinstance(parts, dict) and set(parts) == {*PARTS, "python"}, "it names other software")
    _require(all(_spelled(_VERSION, part) for part in parts.values()), "a version of its software is none")
    return FORMAT


def _spelled(spelling: re.Pattern[str], text: object) -> bool:
    return isinstance(text, str) and spelling.fullmatch(text) is not None


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
    wrong = misfit(plan)
    _require(wrong is None, wrong or "")
    _runs(plan)
    source = plan.source.source
    rows = source.source.source.table if isinstance(source.source, Where) else source.source.table
    keys = f"{source.keys}" if source.listed else "unknown"
    return f"a question about {rows}, {keys} keys, {len(plan.calls)} aggregates"


def _runs(plan: Plan) -> None:
    """Its expressions of rows are such as an engine runs, of columns that are what the plan itself says they are."""
    source, unit = plan.source.source, plan.source.source.source
    condition = unit.predicate if isinstance(unit, Where) else None
    read = [key.part for key in source.columns] + [call.column.part for call in plan.calls if call.column is not None]
    every = [*([] if condition is None else [condition]), *read]
    kinds = {part.index: part.kind for one in every for part in walk(one) if isinstance(part, Field)}
    _require(all(0 <= index < MOST_COLUMNS for index in kinds), "the plan reads a column that no table has")
    checked = Rows(tuple(kinds.get(index, "text") for index in range(max(kinds, default=-1) + 1)))
    if condition is not None:
        checked.predicate(condition)
    for part in dict.fromkeys(read):
        checked.operand(part)
    for call in plan.calls:
        rule_of(call)


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
    _require(receipt["neighbours"] == reach.neighbours, "the plan's sensitivity is that of other neighbours")
    claimed = receipt["reach"]
    found = {"rows": reach.rows, "groups": reach.groups, "keys": reach.keys, "one": reach.one, "units": reach.units}
    _require(canonical(claimed) == canonical(found), "the reach is not what the plan implies")
    words: list[str] = []
    for ask, claim in _claimed(receipt):
        steps = _steps(claim["grid"])
        _grid(ask.what, ask.column, steps)
        bound = reading(ask, reach, steps)
        for name in ("coordinates", "linf", "l1", "l2_squared"):
            _require(claim[name] == getattr(bound, name), f"{name} of a reading should be {getattr(bound, name)}")
        _require(claim["unit"] == str(bound.unit), "the unit of a reading is another")
        _require(claim["derivation"] == list(derivation(ask, reach, bound)), "the derivation is another")
        words.append(decimal_text(bound.l1 * bound.unit))
    return f"one unit moves the readings by at most {', '.join(words)} (l1), derived again from the plan"


def _steps(grid: Json) -> Steps:
    _require(set(grid) == {"lower", "upper", "exponent"}, "a grid has other parts")
    _require(all(type(part) is int and abs(part) < 2**127 for part in grid.values()), "a grid is of integers")
    _require(abs(grid["exponent"]) <= 1000, "a grid's exponent is out of range")
    return Steps(grid["lower"], grid["upper"], grid["exponent"])


def _amount(text: object) -> Fraction:
    """An exact amount in its one spelling."""
    _require(isinstance(text, str) and _AMOUNT.fullmatch(text) is not None, "an amount is malformed")
    found = Fraction(str(text))
    _require(str(found) == text, "an amount is not in its one spelling")
    return found


def _grid(what: str, column: Measured | None, steps: Steps) -> None:
    """The grid is the column's bounds, rounded to its steps; a count has none."""
    if column is None or what not in SUMMED or column.lower is None or column.upper is None:
        _require(steps == Steps(), "a count has no grid")
        return
    _require(column.kind == "float" or steps.exponent == 0, "an integer column's grid is the integers")
    rounded = (nearest(column.lower, steps.exponent), nearest(column.upper, steps.exponent))
    _require((steps.lower, steps.upper) == rounded, "a grid does not hold the column's bounds")


def _noise(receipt: Json) -> str:
    told = [_loss(claim, _price(receipt).currency) for _, claim in _claimed(receipt)]
    selection = receipt["selection"]
    if selection is not None:
        told.append(_selection(plan_of(receipt["plan"]), selection))
    return f"{'; '.join(told)}: from the exact laws"


def _loss(claim: Json, currency: str) -> str:
    """One reading's noise loses no more than it says."""
    epsilon, rho = _amount(claim["epsilon"]), _amount(claim["rho"])
    if claim["mechanism"] == "discrete_laplace":
        scale = _amount(claim["scale"])
        _require(scale > 0, "a noise scale is 0")
        # ln P(z)/P(z + s) = (|z + s| - |z|)/scale <= |s|/scale for each coordinate, so l1/scale for the vector
        lost = claim["l1"] / scale
        if currency == "epsilon":
            _require(lost <= epsilon, f"noise of scale {claim['scale']} loses more than {claim['epsilon']}")
            return f"discrete Laplace, epsilon {decimal_text(epsilon)}"
        _require(lost * lost / 2 <= rho, f"noise of scale {claim['scale']} loses more than rho {claim['rho']}")
        return f"discrete Laplace, rho {decimal_text(rho)}"
    _require(claim["mechanism"] == "discrete_gaussian", "the mechanism is not one this version knows")
    variance = _amount(claim["variance"])
    _require(variance > 0, "a noise variance is 0")
    # at rho 0 it is alone, and priced by its own law: see the cost
    _require(rho == 0 or claim["l2_squared"] / (2 * variance) <= rho, "Gaussian noise loses more than it says")
    return f"discrete Gaussian, rho {decimal_text(rho)}" if rho else "discrete Gaussian by its own law"


def _selection(plan: Plan, selection: Json) -> str:
    """The rule for unknown keys promises what it is charged for, under the plan's neighbours."""
    rule = selection_of(selection["rule"])
    reach = stability(plan.source)
    _require(reach.chosen and rule.groups == selection_reach(reach), "keys are selected for another number of groups")
    epsilon, rho, delta = (_amount(selection[name]) for name in ("epsilon", "rho", "delta"))
    if reach.neighbours == "replace-one":
        twice = zcdp.selection_under_replacement(*rule.promise)
        promised = twice if epsilon else (zcdp.pure_to_rho(twice[0]), twice[1])
    else:
        promised = rule.promise if epsilon else rule.rho_promise
    _require(promised[0] <= (epsilon or rho) and promised[1] <= delta, "the selection of keys loses more than it says")
    return f"keys by {words(rule)}, delta {decimal_text(delta)}"


def _price(receipt: Json) -> Price:
    """What was offered."""
    held = receipt["price"]
    _require(set(held) == {"currency", "amount", "delta"}, "the price has other parts")
    return Price(held["currency"], _amount(held["amount"]), _amount(held["delta"]))


def _cost(receipt: Json) -> str:
    claims = [claim for _, claim in _claimed(receipt)]
    charged = {name: _amount(receipt[name]) for name in ("epsilon", "rho", "delta")}
    selection = receipt["selection"] or {"epsilon": "0", "rho": "0", "delta": "0"}
    left = {name: charged[name] - _amount(selection[name]) for name in charged}  # what the readings were charged
    sums = {name: sum((_amount(claim[name]) for claim in claims), Fraction(0)) for name in ("epsilon", "rho")}
    gaussian = [claim for claim in claims if claim["mechanism"] == "discrete_gaussian"]
    if _price(receipt).currency == "rho":
        right = left == {"epsilon": 0, "rho": sums["rho"], "delta": 0} and sums["epsilon"] == 0
    elif not gaussian:
        right = left == {"epsilon": sums["epsilon"], "rho": 0, "delta": 0}
    else:
        right = left["rho"] == 0 == sums["epsilon"] and len(gaussian) == len(claims) and _worth(claims, sums, left)
    _require(right, "the cost is not the sum of the losses")
    mechanisms = [{k: v for k, v in claim.items() if k != "derivation"} for claim in receipt["readings"]]
    named = ("price", "epsilon", "rho", "delta", "confidence", "selection")
    _require(sha({name: receipt[name] for name in named} | {"mechanisms": mechanisms}) == receipt["parameters_sha256"],
             "the parameters' digest is another")  # fmt: skip
    amounts = [f"{name} {decimal_text(amount)}" for name, amount in charged.items() if amount]
    return f"{', '.join(amounts)} in all"


def _worth(claims: list[Json], sums: dict[str, Fraction], left: dict[str, Fraction]) -> bool:
    """Whether Gaussian readings are (epsilon, delta)-DP together: by their rho, or one number by its own law."""
    if all(_amount(claim["rho"]) for claim in claims):
        return zcdp.delta_of(sums["rho"], left["epsilon"]) <= left["delta"]
    claim = claims[0]
    loss = DiscreteGaussian(_amount(claim["variance"])).loss(claim["linf"])
    return len(claims) == 1 and claim["coordinates"] == 1 and loss.delta(left["epsilon"]).hi <= left["delta"]


def _catalog(receipt: Json, catalog: Catalog) -> str:
    _require(receipt["protects"] == catalog.protects, "it protects something else")
    _require(receipt["neighbours"] == catalog.neighbours, "its neighbours are others")
    _require(_price(receipt).currency == catalog.currency, f"the catalog's budget is in {catalog.currency}")
    _require(bool(catalog.delta) or _amount(receipt["delta"]) == 0, "the catalog has no delta to spend")
    wrong = disagreement(plan_of(receipt["plan"]), catalog)
    _require(wrong is None, wrong or "")
    spent, remaining = (_amount(receipt["ledger"][name]) for name in ("spent", "remaining"))
    _require(spent + remaining == catalog.budget, "what it says is spent and left is not the catalog's budget")
    if catalog.data_version == receipt["data_version"]:
        _require(receipt["catalog_sha256"] == catalog.digest, "the catalog has changed since, in what it declares")
    return "every public fact the sensitivity rests on is declared in the catalog"


def _choice(receipt: Json) -> str:
    """Grid, split and noise follow from plan and price alone (MEANING 2.4, 5.1): none was picked by looking at data."""
    claims = [{k: v for k, v in claim.items() if k != "derivation"} for claim in receipt["readings"]]
    found = priced_at(plan_of(receipt["plan"]), _price(receipt))
    _require(canonical([mechanism_json(one) for one in found.priced]) == canonical(claims),
             "the plan at this price gets another grid, split or noise")  # fmt: skip
    keys = None if found.selecting is None else found.selecting.as_json()
    _require(canonical(keys) == canonical(receipt["selection"]), "the plan at this price selects keys otherwise")
    costs = [str(found.epsilon), str(found.rho), str(found.delta)]
    _require(costs == [receipt[name] for name in ("epsilon", "rho", "delta")], "the plan costs another amount")
    _require(0 < _amount(receipt["confidence"]) < 1, "the confidence is out of range")
    return "grid, split and noise are those the plan gets at this price"


def _ledger(receipt: Json, ledger: Ledger, answer: Json | None) -> str:
    position, head = receipt["ledger"]["position"], receipt["ledger"]["head"]
    verdict = ledger.verify([(position, head)])
    _require(verdict.sound, verdict.problem or "")
    charged = answered = None
    time = ""
    for entry in ledger.events():
        event = entry.event
        if isinstance(event, Charged) and entry.position == position:
            charged, time = event, entry.time
        if isinstance(event, Answered) and event.request == receipt["request"]:
            answered = event
    if charged is None or answered is None:
        raise _Wrong("the ledger has no such charge, or no answer to it")
    _require(charged.request == receipt["request"], "the charge at this position is another request's")
    batch = receipt["batch"]
    plan, costs, parameters = _charged_for(receipt, charged)
    claims = (receipt["analyst"], plan, receipt["catalog_sha256"], receipt["data_version"])
    held = (charged.analyst, charged.plan, charged.catalog, charged.data_version)
    _require(claims == held, "the ledger holds another question under this request")
    prices = [str(charged.epsilon), str(charged.rho), str(charged.delta)]
    _require(prices == costs, "the ledger charged another price")
    _require(receipt["parameters_sha256"] == parameters, "the ledger holds other parameters under this request")
    spent = charged.spent_rho if _price(receipt).currency == "rho" else charged.spent_epsilon
    standing = (str(spent), str(ledger.budget().total - spent), time)
    said = (receipt["ledger"]["spent"], receipt["ledger"]["remaining"], receipt["time"])
    _require(said == standing, "the ledger had spent another amount, or it was at another time")
    if answer is not None and batch is None:
        text = canonical({"answer": answer, "receipt": receipt})
        held_answer = sha256(text).hexdigest() == answered.answer
        _require(held_answer, "the ledger holds another answer, or another receipt of it")
    else:  # the stored answer has its receipt beside it
        asked = (*held, charged.parameters, charged.epsilon, charged.delta, charged.request, charged.rho)
        stored = ledger.stored(Request(*asked))
        kept = {} if stored is None else json.loads(stored.answer)
        kept = kept if batch is None else kept["batch"][batch["index"]]
        held_answer = answer is None or kept.get("answer") == answer
        _require(kept.get("receipt") == receipt and held_answer, "the ledger holds another answer, or receipt of it")
    return f"the chain of {verdict.position} events is whole and holds this charge as event {position}"


def _charged_for(receipt: Json, charged: Charged) -> tuple[str, list[str], str]:
    """The plan, the costs and the sha256 of this question's parameters that the ledger's charge should hold: those of
    the receipt, or for one of a batch those of the batch."""
    costs = [receipt[name] for name in ("epsilon", "rho", "delta")]
    batch = receipt["batch"]
    if batch is None:
        return receipt["plan_sha256"], costs, sha256(charged.parameters.encode()).hexdigest()
    index = batch["index"]
    _require(len(batch["plans"]) == len(batch["costs"]) == len(set(batch["plans"])), "a batch has each plan once")
    totals = [str(sum(map(_amount, column), Fraction(0))) for column in zip(*batch["costs"], strict=True)]
    held = json.loads(charged.parameters)
    _require(held.get("point") == batch.get("point"), "the ledger charged its batch in another way")
    if "point" in batch:
        totals = [batch["point"]["epsilon"], "0", batch["point"]["delta"]]
        lost = [[loss.as_json() for loss in losses_of(one)] for one in held["batch"]]
        each = [[one[name] for name in ("epsilon", "rho", "delta")] for one in held["batch"]]
        _require(each == batch["costs"], "the questions of its batch cost otherwise, by the ledger")
        _require(lost == batch["losses"], "the questions of its batch lose otherwise, by the ledger")
    return batch_digest(batch["plans"]), totals, sha(held["batch"][index])


def _batch(receipt: Json) -> str:
    """One of a batch: the batch it names holds this very plan and cost; and no less was spent by then."""
    batch = receipt["batch"]
    currency = ("epsilon", "rho").index(_price(receipt).currency)
    spent, _ = (_amount(receipt["ledger"][name]) for name in ("spent", "remaining"))
    if batch is None:
        _require(spent >= _amount(receipt[_price(receipt).currency]), "it says that less was spent than it cost")
        return "asked by itself"
    _require(set(batch) - _AS_ONE == {"index", "plans", "costs"} and type(batch["index"]) is int
             and len(_AS_ONE & set(batch)) != 1, "a batch has other parts")  # fmt: skip
    _require(0 <= batch["index"] < len(batch["plans"]) == len(batch["costs"]), "it is not in its batch")
    costs = [receipt[name] for name in ("epsilon", "rho", "delta")]
    place, plans = batch["index"], batch["plans"]
    _require(plans[place] == receipt["plan_sha256"] and batch["costs"][place] == costs, "it is not in its batch")
    _require(all(len([_amount(part) for part in one]) == 3 for one in batch["costs"]), "a cost is malformed")
    _require(all(isinstance(plan, str) and _DIGEST.fullmatch(plan) for plan in plans), "a plan is malformed")
    least = sum((_amount(one[currency]) for one in batch["costs"]), Fraction(0))
    told = f"question {place + 1} of a batch of {len(batch['plans'])}, paid by one charge"
    if "point" in batch:
        apart, (least, delta) = least, _point(receipt)
        _require(least < apart, "its batch cost less one by one")
        told += f" of epsilon {decimal_text(least)} and delta {decimal_text(delta)}, certified for all its losses"
    _require(spent >= least, "it says that less was spent than its batch cost")
    return told


def _point(receipt: Json) -> tuple[Fraction, Fraction]:
    """The (epsilon, delta) that a batch was charged as one: certified again, of losses that hold this question's own.

    The losses of the others are those of their receipts, each of which is checked in this way; and of the charge.
    """
    batch, price = receipt["batch"], _price(receipt)
    _require(set(batch["point"]) == {"epsilon", "delta"} and price.currency == "epsilon", "its point has other parts")
    epsilon, delta = _amount(batch["point"]["epsilon"]), _amount(batch["point"]["delta"])
    _require([str(epsilon), str(delta)] == [batch["point"][name] for name in ("epsilon", "delta")],
             "its point is spelled otherwise")  # fmt: skip
    told = [loss for one in batch["losses"] for loss in one]
    _require(len(told) <= MOST_LOSSES and all(loss["family"] in PRICED for loss in told), "it has other losses")
    lost = [[Loss.from_json(loss) for loss in one] for one in batch["losses"]]
    _require([[loss.as_json() for loss in one] for one in lost] == batch["losses"], "its losses are spelled otherwise")
    _require(len(lost) == len(batch["plans"]), "its batch has losses of other questions")
    own = losses_of({"mechanisms": receipt["readings"], "selection": receipt["selection"]})
    _require(lost[batch["index"]] == list(own), "its batch has other losses of this question")
    _require(2 * len(lost) * price.delta == delta, "its price is of another delta")
    found = point_of([loss for one in lost for loss in one], delta)
    _require(found is not None and found.epsilon <= epsilon, "all losses of its batch lose more than its point")
    _require(found is not None and epsilon <= SLACK * found.epsilon, "its point is of more epsilon than its losses")
    return epsilon, delta
