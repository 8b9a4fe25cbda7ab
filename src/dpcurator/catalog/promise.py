"""Whom a catalog protects, against which change, and for how much: `[curator]` and `[ledger]`, read exactly.

The rules: one currency, epsilon or rho (semantics 6.1); a rho ledger has a delta, since its epsilon is shown at one;
replace-one has a public number of units, written here and never counted (1.3); unknown keys cost delta and are chosen
by a salt (4.4). Checked in tests/catalog/test_promise.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import get_args

from dpcurator.catalog.limits import GREATEST_BUDGET, LEAST_BUDGET, number_of
from dpcurator.catalog.model import Neighbours, Table
from dpcurator.catalog.problems import Problems, nearest, text
from dpcurator.catalog.schema import CuratorFields, LedgerFields
from dpcurator.errors import Refusal
from dpcurator.numbers import positive, rational

_SALT = re.compile(r"[0-9a-fA-F]{32}")
_DRAW = "Draw 32 hexadecimal digits once, as `dpcurator init` or `openssl rand -hex 16` does"


@dataclass(frozen=True, slots=True)
class Promise:
    """`[curator]` and `[ledger]` together. Of epsilon and rho one is above 0; both are 0 where the file is faulty."""

    protects: str = ""
    neighbours: Neighbours = "add-remove"
    units: int | None = None
    salt: str = ""
    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)


def declare_promise(curator: CuratorFields | None, ledger: LedgerFields | None, problems: Problems) -> Promise:
    """What the two sections say. Faults go to `problems`."""
    neighbours: Neighbours = "add-remove"
    units, salt = None, ""
    if curator is not None:
        if not curator.protects.strip():
            problems.add(("curator", "protects"), "protects is empty.", 'Say whom: protects = "patients".')
        neighbours, units = _neighbours(curator, problems)
        salt = _salt(curator, problems)
    epsilon, delta, rho = _budget(ledger, problems)
    return Promise(curator.protects if curator else "", neighbours, units, salt, epsilon, delta, rho)


def _neighbours(fields: CuratorFields, problems: Problems) -> tuple[Neighbours, int | None]:
    place = ("curator", "neighbours")
    if fields.neighbours == "add-remove":
        if fields.units is not None:
            problems.add(("curator", "units"), 'units is for neighbours = "replace-one" only.',
                         "Leave it out, or write expected_units in a table for error bars.")
        return "add-remove", None
    if fields.neighbours != "replace-one":
        problems.add(place, 'neighbours must be "add-remove" or "replace-one".',
                     nearest(fields.neighbours, get_args(Neighbours)))
        return "add-remove", None
    if fields.units is None:
        if not problems.covers(("curator", "units")):
            problems.add(place, 'neighbours = "replace-one" needs the number of units, which it makes public.',
                         "Add units = 1000 with the number that is known already; never count it in the data. Or write "
                         'neighbours = "add-remove".')
        return "replace-one", None
    try:
        return "replace-one", number_of("units", fields.units)
    except Refusal as error:
        cure = error.cure or "Write units = 1000: the public number, 1 or more."
        problems.add(("curator", "units"), error.what, cure)
        return "replace-one", None


def _salt(fields: CuratorFields, problems: Problems) -> str:
    if fields.salt is None:
        return ""
    if not _SALT.fullmatch(fields.salt):
        problems.add(("curator", "salt"), "salt must be 32 hexadecimal digits.", f"{_DRAW}.")
    return fields.salt.lower()


def _budget(fields: LedgerFields | None, problems: Problems) -> tuple[Fraction, Fraction, Fraction]:
    nothing = Fraction(0)
    if fields is None:
        return nothing, nothing, nothing
    amounts = {"epsilon": nothing, "rho": nothing}
    given = [name for name in amounts if getattr(fields, name) is not None]
    if len(given) == 2:
        problems.add(("ledger", "rho"), "epsilon and rho are two currencies, and a ledger counts in one.",
                     "Keep epsilon, or rho with delta; docs/currencies.md says when to choose which.")
    elif not given and not any(problems.covers(("ledger", name)) for name in amounts):
        problems.add(("ledger",), "[ledger] has no epsilon or rho.",
                     'Add a line: epsilon = 4 (or rho = "0.5", with delta = "1e-8").')
    for name in given:
        try:
            amounts[name] = positive(getattr(fields, name), name=name)
        except Refusal as error:
            problems.refusal(("ledger", name), error)
            continue
        if not LEAST_BUDGET <= amounts[name] <= GREATEST_BUDGET:
            problems.add(("ledger", name), f"{name} is outside its limits, 1e-24 and 1e40.", f"Write {name} = 4.")
    delta = _delta(fields, problems)
    if given == ["rho"] and delta == 0 and not problems.covers(("ledger", "delta")):
        place = ("ledger", "rho" if fields.delta is None else "delta")
        problems.add(place, "A ledger in rho needs a delta above 0: rho means an epsilon only at a delta.",
                     'Write delta = "1e-8", far below 1 / (number of people).')
    return amounts["epsilon"], delta, amounts["rho"]


def _delta(fields: LedgerFields, problems: Problems) -> Fraction:
    if fields.delta is None:
        return Fraction(0)
    try:
        delta = rational(fields.delta, name="delta")
    except Refusal as error:
        problems.refusal(("ledger", "delta"), error)
        return Fraction(0)
    if not 0 <= delta < 1:
        problems.add(("ledger", "delta"), "delta must be at least 0 and below 1.", 'Write delta = "1e-8" or 0.')
    return delta


def unknown_keys_are_paid_for(promise: Promise, tables: tuple[Table, ...], problems: Problems) -> None:
    """Unknown keys are selected with delta, and a unit's own keys by the salt: both must be there."""
    unknown = [(table.name, c.name) for table in tables if table.private for c in table.columns if c.unknown_keys]
    if not unknown:
        return
    table, column = unknown[0]
    place = ("tables", table, "columns", column, "keys")
    if promise.delta <= 0 and not problems.covers(("ledger", "delta")) and not problems.covers(("ledger", "rho")):
        problems.add(place, f'keys = "unknown" of {text(column)}: choosing keys privately costs delta, and the ledger '
                     "has none.", 'Write delta = "1e-8" under [ledger], far below 1 / (number of people), or list the '
                     "keys.")
    if not promise.salt and not problems.covers(("curator", "salt")) and not problems.covers(("curator",)):
        problems.add(place, f'keys = "unknown" of {text(column)} needs a salt, by which a unit\'s keys are chosen.',
                     f'{_DRAW}, and write them as salt = "..." under [curator].')
