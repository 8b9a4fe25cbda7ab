"""Two laws compared exactly: hockey-stick, Renyi and max divergence, and the event that tells most.

Definition  A law is {outcome: Enclosure of its chance}; what is not listed has the rest of the mass. For laws P, Q:
            `hockey_stick(P, Q, eps)` is the sum of max(P(x) - e**eps Q(x), 0), the least delta at eps;
            `max_divergence` the greatest ln P(x)/Q(x); `renyi` of order a is ln(sum P**a Q**(1-a)) / (a - 1).
Promise     Lower ends are below the true divergence whatever the rest does; where the listed chances sum to 1 exactly,
            brackets hold it. Only this layer may call a violation certain.
Proof       For a set S of listed outcomes P(S) is at least the sum of the lower ends, and Q(S) at most the lesser of
            the sum of the upper ends (with all of the rest for an outcome that Q does not list) and 1 less the lower
            ends outside of S. All terms of the three sums are at least 0, so leaving some out lowers them.
Checked     tests/audit/test_divergences.py.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpcurator.auditing.claims import ORDERS, Claim, Least, Zcdp
from dpcurator.auditing.copies import printed
from dpcurator.auditing.pairs import Pair
from dpcurator.auditing.report import Finding
from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, rational
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.enclosure import bracket

Law = Mapping[Hashable, Enclosure]
_NOTHING = Enclosure.exactly(0)
_AS_MUCH = 1 - Fraction(1, 10**9)
_NAMED = 6  # outcomes of an event that are listed


def law(chances: Mapping[Any, Any]) -> dict[Hashable, Enclosure]:
    """A law from chances that are ints, Fractions or Enclosures. Raises Refusal for floats, and for more than 1."""
    found: dict[Hashable, Enclosure] = {}
    for outcome, chance in chances.items():
        if isinstance(chance, bool) or not isinstance(chance, int | Fraction | Enclosure):
            raise Refusal(
                f"A probability of an exact distribution is a {type(chance).__name__}, which proves nothing.",
                cure="Give ints, Fractions, or Enclosures of what is not rational.",
            )
        made = chance if isinstance(chance, Enclosure) else Enclosure.exactly(chance)
        if made.hi < 0:
            raise Refusal("A probability of the exact distribution is below 0.", cure="Check the distribution.")
        found[outcome] = Enclosure(max(made.lo, Fraction(0)), made.hi)
    if sum((chance.lo for chance in found.values()), Fraction(0)) > 1:
        raise Refusal("The probabilities of the exact distribution sum to more than 1.", cure="Check the distribution.")
    return found


def rest(law: Law) -> Fraction:
    """The most that all outcomes that are not listed can have."""
    return max(Fraction(0), 1 - sum((chance.lo for chance in law.values()), Fraction(0)))


def hockey_stick(p: Law, q: Law, eps: object) -> Enclosure:
    """The least delta for P against Q at eps >= 0. What P does not list counts for the upper end alone."""
    at = rational(eps, name="eps")
    with precision(256):
        times = bracket(ball(at).exp())
    left, total = _unlisted(p, q), _NOTHING
    for outcome, chance in p.items():
        gap = chance - times * q.get(outcome, left)
        total = total + Enclosure(max(gap.lo, Fraction(0)), max(gap.hi, Fraction(0)))
    unlisted = max(Fraction(0), 1 - sum((chance.lo for chance in p.values()), Fraction(0)))
    return Enclosure(total.lo, min(Fraction(1), total.hi + unlisted))


def max_divergence(p: Law, q: Law) -> Least:
    """The greatest ln P(x)/Q(x) over outcomes listed, rounded down; math.inf where Q(x) is surely 0."""
    from dpcurator.auditing.claims import Pure

    left, pure = _unlisted(p, q), Pure(0)
    return max((pure.at_least(c.lo, q.get(x, left).hi) for x, c in p.items()), default=Fraction(0))


def renyi(p: Law, q: Law, order: object) -> Enclosure | None:
    """Of order > 1, over outcomes listed in both; None where it is infinite: P has an outcome that Q surely lacks.

    Its lower end is below the divergence of the whole laws.
    """
    a = rational(order, name="order")
    if a <= 1:
        raise Refusal("order must be above 1.", cure="Write order as in 2.")
    left = _unlisted(p, q)
    with precision(256):
        low = high = ball(Fraction(0))
        for outcome, chance in p.items():
            other = q.get(outcome, left)
            if chance.lo > 0 and other.hi == 0:
                return None
            if chance.lo > 0:
                low = low + _term(chance.lo, other.hi, a)
            if chance.hi > 0:
                high = high + _term(chance.hi, other.lo, a) if other.lo > 0 and high is not None else None
        floor = bracket(low.log() / (ball(a) - 1)).lo if bracket(low).lo > 0 else Fraction(0)
        if high is None or rest(p) > Fraction(1, 2**60):
            return Enclosure(max(floor, Fraction(0)), max(floor, Fraction(2**64)))
        ceiling = bracket(high.log() / (ball(a) - 1)).hi  # below 0 for a law and itself, as far as it was cut off
        return Enclosure(max(floor, Fraction(0)), max(floor, ceiling, Fraction(0)))


def _term(p: Fraction, q: Fraction, a: Fraction) -> Any:
    return (ball(a) * ball(p).log() + (1 - ball(a)) * ball(q).log()).exp()


def _unlisted(p: Law, q: Law) -> Enclosure:
    """The chance under Q of an outcome that only P lists."""
    return Enclosure(Fraction(0), rest(q))


def compare(pair: Pair, laws: tuple[Law, Law], claim: Claim) -> list[Finding]:
    """What two laws prove of a claim, both ways round: the event that tells most; for rho, the whole laws as well."""
    found = []
    for direction, (p, q) in ((("first", "second"), laws), (("second", "first"), laws[::-1])):
        found.append(_event(pair, p, q, direction, claim))
        if isinstance(claim, Zcdp):
            found.append(_whole(pair, p, q, direction))
    return found


def _event(pair: Pair, p: Law, q: Law, direction: tuple[str, str], claim: Claim) -> Finding:
    """Outcomes in the order of P/Q: the first so many, for the number that proves most."""
    import numpy as np

    left = _unlisted(p, q)
    order = sorted(p, key=lambda x: -_ratio(p[x].lo, q.get(x, left).hi))
    low, high = Fraction(0), Fraction(0)
    outside = sum((chance.lo for chance in q.values()), Fraction(0))
    sums = []
    absent = Fraction(0)
    for outcome in order:
        low += p[outcome].lo
        if outcome in q:
            high, outside = high + q[outcome].hi, outside - q[outcome].lo
        else:
            absent = left.hi
        sums.append((low, min(high + absent, max(Fraction(0), 1 - outside))))
    if not sums:
        return Finding(pair, "nothing", direction, Fraction(0), Fraction(0), Fraction(0))
    scores = claim.scores(np.array([float(a) for a, _ in sums]), np.array([float(b) for _, b in sums]))
    near = float(np.max(scores)) - 1e-9 * abs(float(np.max(scores)))
    tried = {0, int(np.argmax(scores)), int(np.max(np.flatnonzero(scores >= near)))}
    proved = {at: claim.at_least(*sums[at]) for at in tried}
    top = max(proved.values())
    best = max(at for at, least in proved.items()  # the largest event of those that prove as much
               if least >= top * _AS_MUCH and (least > claim.parameter) == (top > claim.parameter))
    inside = tuple(order[: best + 1])
    return Finding(pair, named(inside), direction, *sums[best], proved[best], outcomes=inside)


def named(outcomes: Sequence[Hashable]) -> str:
    """An event in words."""
    if not outcomes:
        return "nothing"
    texts = [printed(one) for one in outcomes[:_NAMED]]
    if len(outcomes) > _NAMED and all(isinstance(one, int) for one in outcomes):
        ends = sorted(int(one) for one in outcomes if isinstance(one, int))
        if ends[-1] - ends[0] == len(ends) - 1:
            return f"the outcome is in {ends[0]} to {ends[-1]}"
    more = f" or {len(outcomes) - _NAMED:,} more" if len(outcomes) > _NAMED else ""
    return f"the outcome is {' or '.join(texts)}{more}"


def _whole(pair: Pair, p: Law, q: Law, direction: tuple[str, str]) -> Finding:
    """The greatest, over orders a, of the Renyi divergence over a."""
    best, at = Fraction(0), ORDERS[0]
    for order in sorted(ORDERS):
        found = renyi(p, q, order)
        if found is None:
            return Finding(pair, "all outcomes, some of which cannot happen on the other input", direction, Fraction(1),
                           Fraction(1), math.inf)
        if found.lo / order > best:
            best, at = found.lo / order, order
    said = f"the whole distributions: Renyi divergence of order {float(at):.4g}"
    return Finding(pair, said, direction, Fraction(1), Fraction(1), best)


def _ratio(p: Fraction, q: Fraction) -> float:
    if q == 0:
        return math.inf if p > 0 else 0.0
    try:
        return float(p / q)
    except OverflowError:
        return math.inf
