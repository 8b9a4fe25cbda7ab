"""What an audit found, in words, as JSON, in a notebook, and as a picture.

A `Finding` is one event whose chances were bounded: what it says of the claim's parameter holds with the confidence of
the whole report, all findings together. A finding that was seen on one input and never on the other is listed apart as
`unseen`: its true bound may be infinite, and what is stated is only what so many draws can show.
Checked in tests/audit/test_report.py.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from html import escape
from typing import Any

from dpcurator.auditing.claims import Claim, Least
from dpcurator.auditing.pairs import Pair, shown
from dpcurator.numbers.readable import readable

CERTAIN, FOUND, NOTHING = "violation found (certain)", "violation found", "no violation found"
_FLOOR = Context(prec=4, rounding=ROUND_FLOOR)


@dataclass(frozen=True, slots=True)
class Bar:
    """One outcome, or a bin of them, for a picture. label: in words. first, second: its probability on either input.
    share: how much of it is in the event, 0 to 1."""

    label: str
    first: float
    second: float
    share: float


@dataclass(frozen=True, slots=True)
class Finding:
    """One event. event: in words. direction: ("first", "second") when it is likelier on the pair's first input.

    counts: how often it was seen (likelier side, other side), of `draws` each; None from exact laws. p, q: its chance
    is at least p on the likelier side and at most q on the other. at_least: what follows for the claim's parameter.
    outcomes: those of the event, from exact laws.
    """

    pair: Pair
    event: str
    direction: tuple[str, str]
    p: Fraction
    q: Fraction
    at_least: Least
    counts: tuple[int, int] | None = None
    draws: int = 0
    outcomes: tuple[Hashable, ...] = field(default=(), repr=False, compare=False)

    __repr__ = readable

    @property
    def never(self) -> bool:
        """Was it seen on one side and never on the other?"""
        return self.counts is not None and self.counts[0] > 0 and self.counts[1] == 0

    def as_json(self) -> dict[str, Any]:
        return {
            "pair": [shown(self.pair.first), shown(self.pair.second)], "why": self.pair.why,
            "outside_bounds": self.pair.hostile, "event": self.event,
            "likelier_on": self.direction[0], "counts": None if self.counts is None else list(self.counts),
            "draws": self.draws, "chance_at_least": figure(self.p), "other_chance_at_most": figure(self.q, up=True),
            "at_least": figure(self.at_least), "never_on_the_other": self.never,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """verdict: one of three. findings: the events counted, most telling first; the first is the report's own.

    claim: None if there was none. alpha: the chance that any bound stated is false; 0 where all is exact. samples:
    draws of each input that events were counted on. layer: "exact" or "black box". found_on: the pair before it was
    made smaller.
    """

    verdict: str
    name: str
    claim: Claim | None
    findings: tuple[Finding, ...]
    layer: str
    alpha: Fraction
    samples: int
    searched: int
    seconds: float
    pairs: int
    delta: Fraction = Fraction(0)
    measure: str = "epsilon"
    found_on: Pair | None = None
    notes: tuple[str, ...] = ()
    picture: tuple[Bar, ...] | None = field(default=None, repr=False, compare=False)

    __repr__ = readable

    @property
    def best(self) -> Finding | None:
        return self.findings[0] if self.findings else None

    @property
    def violated(self) -> bool:
        return self.verdict != NOTHING

    @property
    def at_least(self) -> Least:
        """What the claim's parameter (epsilon, or rho) cannot be below."""
        return self.best.at_least if self.best else Fraction(0)

    @property
    def epsilon(self) -> Least:
        """What epsilon cannot be below, at the claim's delta (0 if it has none); for a claim of rho, at delta 0."""
        from dpcurator.auditing.claims import Approximate

        if self.measure == "epsilon":
            return self.at_least
        made = Approximate(0, self.delta)
        return max((made.at_least(one.p, one.q) for one in self.findings), default=Fraction(0))

    @property
    def event(self) -> str | None:
        """The event that tells most, in words."""
        return self.best.event if self.best else None

    @property
    def pair(self) -> Pair | None:
        return self.best.pair if self.best else None

    @property
    def direction(self) -> tuple[str, str] | None:
        return self.best.direction if self.best else None

    @property
    def counts(self) -> tuple[int, int] | None:
        return self.best.counts if self.best else None

    @property
    def unseen(self) -> tuple[Finding, ...]:
        """The findings that were seen on one input and in none of the draws on the other."""
        return tuple(one for one in self.findings if one.never)

    def __str__(self) -> str:
        rows = self._rows()
        width = max(len(name) for name, _ in rows)
        return "\n".join([f"{self.name}: {self.verdict}", *(f"  {name:{width}}  {text}" for name, text in rows)])

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("claimed", self.claim.words() if self.claim else "nothing")]
        found = self.best
        rows.append((f"{self.measure}", f"at least {figure(self.at_least)}"))
        if self.claim is not None and self.measure == "epsilon" and self.delta:
            rows[-1] = ("epsilon", f"at least {figure(self.at_least)} at delta {float(self.delta):.6g}")
        if found is not None:
            if self.violated:
                rows.append(("inputs", f"{shown(found.pair.first)}"))
                rows.append(("", f"{shown(found.pair.second)}"))
                rows.append(("where", found.pair.why))
            rows.append(("event", found.event))
            rows.append(("chances", _chances(found)))
            if found.never:
                rows.append(("never seen", f"{found.draws:,} draws can show no more; it may have no bound at all"))
        rows.append(("tried", self._tried()))
        rows += [("note", note) for note in self.notes]
        return rows

    def _tried(self) -> str:
        pairs = f"{self.pairs:,} pair{'s' if self.pairs != 1 else ''} of inputs"
        if self.layer == "exact":
            return f"{pairs}, by exact distributions"
        chance = float(Context(prec=1, rounding=ROUND_CEILING).divide(*map(Decimal, self.alpha.as_integer_ratio())))
        return f"{pairs}, {self.samples:,} draws of each counted; wrong with probability at most {chance:.0e}"

    def as_json(self) -> dict[str, Any]:
        """Everything, for machines: numbers as text, lower bounds rounded down."""
        return {
            "verdict": self.verdict, "mechanism": self.name, "claim": self.claim.as_json() if self.claim else None,
            "measure": self.measure, "at_least": figure(self.at_least), "epsilon": figure(self.epsilon),
            "delta": str(self.delta), "layer": self.layer, "alpha": float(self.alpha), "samples": self.samples,
            "searched": self.searched, "pairs": self.pairs, "seconds": round(self.seconds, 3),
            "findings": [one.as_json() for one in self.findings],
            "unseen": [one.event for one in self.unseen],
            "found_on": None if self.found_on is None else [shown(self.found_on.first), shown(self.found_on.second)],
            "notes": list(self.notes),
        }

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in self._rows())
        return f"<table><caption>{escape(f'{self.name}: {self.verdict}')}</caption>{rows}</table>"


def figure(value: Least, *, up: bool = False) -> str:
    """Four figures, rounded down (up: upward); "infinity" where it is."""
    if isinstance(value, float) and math.isinf(value):
        return "infinity"
    context = Context(prec=4, rounding="ROUND_CEILING") if up else _FLOOR
    exact = Fraction(value)
    made = context.divide(Decimal(exact.numerator), Decimal(exact.denominator)).normalize(context)
    return f"{made:f}" if made == 0 or abs(made) >= Decimal("1e-4") else f"{made:e}"


def _chances(found: Finding) -> str:
    first, second = found.direction
    if found.counts is None:
        exact = "" if found.p == found.q == 0 else f"at least {figure(found.p)} on the {first} input, "
        return f"{exact}at most {figure(found.q, up=True)} on the {second}"
    k1, k2 = found.counts
    other = "never" if k2 == 0 else f"{k2:,} times"
    return f"seen {k1:,} times in {found.draws:,} draws on the {first} input, {other} in as many on the {second}"
