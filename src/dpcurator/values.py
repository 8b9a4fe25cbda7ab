"""What crosses rooms: exact integers under seal, requests and charges, answers and receipts.

`Exact` holds integers computed from private data. It shows nothing, equals nothing, cannot be pickled or copied, and
is opened by `release` alone (tests/laws/test_exact.py holds that to one place in the source).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NoReturn

from dpcurator.numbers.readable import readable

Currency = Literal["epsilon", "rho"]  # what a ledger counts in, besides delta


class Exact:
    """Integers from private data: one row per key, one column per sum. Opened only where noise is added.

    keys: the key of each row, where they were read from the data (unknown keys), in any order; None where public.
    tallies: numbers of units over all keys together, where the plan asks for them. histograms: of each that the plan
    asks for, per key what lies at each candidate, where it is not 0.
    """

    __slots__ = ("_histograms", "_keys", "_rows", "_tallies")

    def __init__(
        self, rows: Sequence[Sequence[int]], keys: Sequence[tuple[Any, ...]] | None = None,
        tallies: Sequence[int] = (), histograms: Sequence[Sequence[Mapping[int, int]]] = (),
    ) -> None:
        self._histograms = tuple(tuple(histogram) for histogram in histograms)
        self._rows = tuple(tuple(row) for row in rows)
        self._keys = None if keys is None else tuple(keys)
        self._tallies = tuple(tallies)

    def open_for_release(self) -> tuple[tuple[int, ...], ...]:
        """The integers. Only `pricing.release` may call this."""
        return self._rows

    def keys_for_release(self) -> tuple[tuple[Any, ...], ...] | None:
        """The keys of the rows, or None. Only `pricing.release` may call this."""
        return self._keys

    def tallies_for_release(self) -> tuple[int, ...]:
        """The numbers of units over all keys. Only `pricing.release` may call this."""
        return self._tallies

    def histograms_for_release(self) -> tuple[tuple[Mapping[int, int], ...], ...]:
        """The histograms. Only `pricing.release` may call this."""
        return self._histograms

    def only(self, columns: Sequence[int], tallies: Sequence[int] = (), histograms: Sequence[int] = ()) -> Exact:
        """These columns, tallies and histograms, under seal."""
        own, lying = [self._tallies[place] for place in tallies], [self._histograms[place] for place in histograms]
        return Exact([[row[column] for column in columns] for row in self._rows], self._keys, own, lying)

    def _sealed(self, *_: object) -> NoReturn:
        raise TypeError("exact values are sealed: only the release step may read them")

    __eq__ = __hash__ = __reduce__ = __reduce_ex__ = __copy__ = __deepcopy__ = __iter__ = __len__ = _sealed

    def __repr__(self) -> str:
        return "<Exact: sealed>"


@dataclass(frozen=True, slots=True)
class Request:
    """What the ledger is asked to charge. A request id is bound to everything else here but the price's spelling.

    A ledger in (epsilon, delta) is charged `epsilon` and `delta`, one in (rho, delta) `rho` and `delta`;
    the other is 0.
    """

    analyst: str
    plan: str  # sha256 of the canonical plan, hexadecimal
    catalog: str  # sha256 of the declared facts that the plan uses
    data_version: int
    parameters: str  # canonical JSON of everything else that shapes the answer: price, split, mechanisms, confidence
    epsilon: Fraction
    delta: Fraction
    request_id: str | None = None  # None: derived from all of the above, so the same question again is the same request
    rho: Fraction = Fraction(0)
    owners: tuple[tuple[str, str], ...] = ()  # (private table, its unit) of what it reads; not part of its identity
    asked: str = ""  # the question as SQL, for the log; not part of its identity
    shared: str = ""  # canonical JSON of the readings that earlier charges paid; then the price is that of the others,
    #                   and the whole one stands in the parameters, to which the identity goes

    __repr__ = readable


@dataclass(frozen=True, slots=True)
class Charge:
    """A durable charge: released nothing yet. `position` and `head` place its event in the chain."""

    request_id: str
    position: int
    head: str  # the chain's hash after this charge, hexadecimal
    time: str  # UTC, ISO 8601; the one timestamp of the request
    epsilon: Fraction
    delta: Fraction
    spent: Fraction  # in total, after this charge, in the ledger's currency (epsilon or rho)
    remaining: Fraction
    rho: Fraction = Fraction(0)
    shared: str = ""  # as in its request

    __repr__ = readable


@dataclass(frozen=True, slots=True)
class Budget:
    """Where the ledger stands, exactly. `total`, `spent` and `remaining` are in its currency: epsilon, or rho."""

    total: Fraction
    delta: Fraction
    spent: Fraction
    spent_delta: Fraction
    currency: Currency = "epsilon"

    def __repr__(self) -> str:
        from dpcurator.numbers import decimal_text

        amounts = [(self.currency, self.spent, self.total), ("delta", self.spent_delta, self.delta)]
        told = [
            f"{name}: {decimal_text(spent)} of {decimal_text(total)} spent, {decimal_text(total - spent)} left"
            for name, spent, total in amounts
            if total
        ]
        return f"Budget({'; '.join(told)})"

    def as_json(self) -> Json:
        """For machines; `delta` where there is any."""
        told: Json = {"currency": self.currency} | _amounts(self.total, self.spent)
        return told | ({"delta": _amounts(self.delta, self.spent_delta)} if self.delta else {})

    @property
    def remaining(self) -> Fraction:
        return self.total - self.spent

    @property
    def remaining_delta(self) -> Fraction:
        return self.delta - self.spent_delta


def _amounts(total: Fraction, spent: Fraction) -> Json:
    from dpcurator.numbers import decimal_text

    left = total - spent
    shown = {"budget": decimal_text(total), "spent": decimal_text(spent), "left": decimal_text(left)}
    return shown | {"exact_left": str(left)}


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of an answer. value: int, float, str, bool or None (NULL). error: how far the noise may have moved it.

    low and high are the ends of the interval; all three in the column's unit, None for keys or without a bound.
    other: it stands in a key's place for all keys that are not shown. rank: of a quantile, by how many rows it may
    miss.
    """

    value: int | float | str | bool | None
    error: float | None = None
    low: float | None = None
    high: float | None = None
    other: bool = False
    rank: float | None = None

    @property
    def within_bar(self) -> bool:
        """Whether it is smaller than its own error bar."""
        noisy = isinstance(self.value, int | float) and self.error is not None
        return noisy and abs(Fraction(self.value or 0)) < Fraction(self.error or 0)

    def as_json(self) -> Json:
        told: Json = {"value": self.value, "error": self.error, "low": self.low, "high": self.high}
        if self.rank is not None:
            told["rank"] = self.rank
        return told | {"other": True} if self.other else told


Json = dict[str, Any]


def read_json(text: str) -> Any:
    """The value of a JSON text. Raises ValueError where it has none, or more than one: a name given twice, of which one
    reader takes the first and another the last; NaN and Infinity, which are no JSON; too many levels to be read."""
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _once(pairs: list[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the name {next(name for name in names if names.count(name) > 1)!r} is given twice")
    return found


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")
