"""Exact output distributions: of a mechanism, or found by running a function on every string of random bits.

Definition  `law_for(mechanism)` is a function of two inputs that gives the law on the first, over outcomes that matter
            for both; None where no law is known. Of dpcurator's own mechanisms these are the exact verbs `pmf` and
            `probabilities`; of `exact_law(f)` it is f; of f(data, entropy) it is found by `enumerate_bits`.
Promise     `enumerate_bits`: the function is run on every string of bits, shortest first, asking for more bits where it
            draws more. An outcome's chance is at least the weight 2**-bits of the runs that gave it, and at most that
            and what is left unexplored. An exception is an outcome, by the name of its type; of `exact_law` it is
            none, but refused. Outcomes that are shown alike are one (auditing/copies.py).
Proof       Runs that end have read disjoint strings, each of chance 2**-length; the other strings are the rest.
Checked     tests/audit/test_laws.py.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from itertools import islice
from typing import Any, Final

from dpcurator.auditing.claims import Pure
from dpcurator.auditing.copies import canonical, fresh
from dpcurator.auditing.draws.blackbox import takes
from dpcurator.auditing.exact.divergences import Law, compare, law
from dpcurator.auditing.outcomes import Raised
from dpcurator.auditing.pairs import Pair
from dpcurator.entropy import TapeEntropy, TapeExhausted
from dpcurator.errors import Refusal
from dpcurator.mechanisms import row_of
from dpcurator.mechanisms.protocol import Outcomes
from dpcurator.numbers import Enclosure

LawOf = Callable[[Any, Any, float], Law]  # (input, neighbour, seconds) -> law on the input
_RUNS, _WIDE, _LISTED = 300_000, 10, 50_000  # runs; bits drawn at once that are tried out; outcomes
_REPORTS = 10_000  # of a local mechanism
_FAR = 40  # standard sizes of noise looked at


class ExactLaw:
    """A function of the data that gives the distribution of the outcome; `dp.exact_law` makes it."""

    def __init__(self, f: Callable[[Any], Mapping[Any, Any]]) -> None:
        if not callable(f):
            raise Refusal("exact_law takes a function of the data.", cure="Write dp.exact_law(lambda data: {...}).")
        self.f, self.__name__ = f, getattr(f, "__name__", "the law")

    def __call__(self, data: Any) -> Mapping[Any, Any]:
        return self.f(data)


def exact_law(f: Callable[[Any], Mapping[Any, Any]]) -> ExactLaw:
    """Marks a function as giving the exact distribution of a mechanism's outcome, for dp.audit.

    Promise: with it, every divergence is compared exactly, and what `dp.audit` finds is certain.

    Parameters:
        f: called with an input; returns a mapping {outcome: probability}, probabilities as ints, Fractions or
            Enclosures that can sum to 1.

    Returns what `dp.audit` takes as a mechanism. Raises Refusal if f is no function; `dp.audit` does if what it returns
    is no distribution.

    >>> from fractions import Fraction
    >>> import dpcurator as dp
    >>> answer = dp.exact_law(lambda bit: {bit: Fraction(3, 4), 1 - bit: Fraction(1, 4)})  # randomised response
    >>> dp.audit(answer, pair=(0, 1), claim=dp.Pure(1)).verdict  # ln 3 is more than 1
    'violation found (certain)'
    """
    return ExactLaw(f)


def law_for(mechanism: Any) -> LawOf | None:
    """The law of its outcomes, if one is known."""
    if isinstance(mechanism, ExactLaw):
        return lambda data, other, seconds: _given(mechanism, data)
    row = row_of(mechanism)
    if row is not None:
        listed = _LISTED_BY[row.outcomes]
        return lambda data, other, seconds: listed(mechanism, data, other)
    if callable(mechanism) and takes(mechanism, "entropy") and not takes(mechanism, "size"):
        return lambda data, other, seconds: enumerate_bits(mechanism, data, seconds=seconds)
    return None


def guarded(law_of: LawOf, data: Any, other: Any, seconds: float) -> Law:
    """The law; of a mechanism that raises, the exception is the outcome. A Refusal is passed on."""
    try:
        return law_of(data, other, seconds)
    except Refusal:
        raise
    except (Exception, SystemExit) as error:
        return {Raised(type(error).__name__): Enclosure.exactly(1)}


def enumerate_bits(f: Callable[..., Any], data: Any, *, seconds: float = 10.0) -> Law:
    """The law of f(data, entropy), over the runs that end within the time and 300,000 runs."""
    found: dict[Hashable, Fraction] = {}
    until, left, own_copy = time.monotonic() + seconds, deque([""]), fresh(data)
    for _ in range(_RUNS):
        if not left or time.monotonic() > until:
            break
        tape = left.popleft()
        entropy = TapeEntropy(tape)
        try:
            outcome = canonical(f(own_copy(), entropy=entropy))
        except TapeExhausted as ended:
            more = ended.wanted - (len(tape) - entropy.used)
            if more <= _WIDE:
                left.extend(tape + format(bits, f"0{more}b") for bits in range(2**more))
            continue
        except (Exception, SystemExit) as error:
            outcome = Raised(type(error).__name__)
        found[outcome] = found.get(outcome, Fraction(0)) + Fraction(1, 2**entropy.used)
    unexplored = 1 - sum(found.values(), Fraction(0))
    return {outcome: Enclosure(mass, mass + unexplored) for outcome, mass in found.items()}


def _given(mechanism: ExactLaw, data: Any) -> Law:
    """A law as it was given; outcomes that are shown alike are one. One that could not be computed says nothing."""
    try:
        chances: Any = mechanism(fresh(data)())
    except Refusal:
        raise
    except Exception as error:
        raise Refusal(
            f"The exact distribution of an input raised {type(error).__name__}.",
            cure="Give a distribution for every input tried.",
        ) from None
    if not isinstance(chances, Mapping):
        raise Refusal(
            f"An exact distribution was given as a {type(chances).__name__}.",
            cure="Return {outcome: probability} for every input.",
        )
    found: dict[Hashable, Any] = {}
    for (outcome, _), chance in zip(chances.items(), law(dict(enumerate(chances.values()))).values(), strict=True):
        key = canonical(outcome)
        found[key] = found[key] + chance if key in found else chance
    return found


def unsteady(before: Law, after: Law) -> bool:
    """Do two laws of one function on one input surely differ? Then it follows something else, and has no law."""
    pair = Pair(None, None)
    return any(one.at_least > 0 for one in compare(pair, (before, after), Pure(0)))


def _probabilities(mechanism: Any, data: Any) -> Law:
    made = mechanism.probabilities(data)
    return law(made if isinstance(made, Mapping) else dict(enumerate(made)))


def _whole_noise(mechanism: Any, data: Any, other: Any) -> Law:
    reach = min(_LISTED, 2 * int(mechanism.error(Fraction(1, 10**12))) + 2)
    low, high = min(data, other) - reach, max(data, other) + reach
    if high - low > 4 * _LISTED:
        raise Refusal("The exact distribution of noise between inputs so far apart is not listed.")
    return law({k: mechanism.pmf(k - data) for k in range(low, high + 1)})


def _noise_on_a_grid(mechanism: Any, data: Any, other: Any) -> Law:
    """The points of the grid next to both inputs, and others as far as the noise is seen."""
    step, scale = mechanism.step, mechanism.error(Fraction(1, 3))
    points = set()
    for value in (data, other):
        centre = round(Fraction(value) / step)
        points |= {centre + k for k in range(-20, 21)}
        points |= {centre + round(scale * k / (4 * step)) for k in range(-_FAR, _FAR + 1)}
    return law({step * k: mechanism.pmf(step * k, data) for k in sorted(points)})


def _reports(mechanism: Any, data: Any, other: Any) -> Law:
    """Of the first reports in their order, where there are too many."""
    return law({report: mechanism.pmf(report, data) for report in islice(mechanism.reports(), _REPORTS)})


_LISTED_BY: Final[Mapping[Outcomes, Callable[[Any, Any, Any], Law]]] = {
    "whole noise": _whole_noise,
    "grid noise": _noise_on_a_grid,
    "listed": lambda mechanism, data, other: _probabilities(mechanism, data),
    "reports": _reports,
}
