"""The charts of a composition, by name: what `Composition.plot` draws.

"delta" has certified brackets, and `compare` simpler methods beside them; "tradeoff" the curve between its proved ends;
"distribution" is estimated. Checked in tests/accounting/test_charts.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcurator.accounting.bracket import Bracket, has_law
from dpcurator.accounting.closed.deltas import DELTAS, upper_deltas
from dpcurator.accounting.composed_tradeoff import both_ends
from dpcurator.accounting.estimate.composed_law import cells
from dpcurator.accounting.tradeoff import by_deltas, tradeoff
from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, positive
from dpcurator.plots import draw_composed_loss, draw_delta_bracket, draw_tradeoff
from dpcurator.plots.chart import Chart

if TYPE_CHECKING:
    from dpcurator.accounting.composition import Composition

KINDS = ("delta", "distribution", "tradeoff")
_PARTS = 40
_ACCURACY = Fraction(1, 100)  # of a line's width


def draw_composition(
    composition: Composition, kind: object = "delta", *, most: object = None, compare: Iterable[str] = ()
) -> Chart:
    """kind: "delta" at each epsilon, the "distribution" of the loss, or the "tradeoff" of a test's two errors.

    For "delta": most, the greatest epsilon, unless given where delta is 1e-6 or so; compare, names of methods
    (closed_delta.py), such as "zcdp". Raises Refusal for another kind or method, and where the law is not known.
    """
    if kind != "delta" and (most is not None or tuple(compare)):
        raise Refusal("Only a chart of delta goes to an epsilon, or compares.", cure='Write plot("delta", most=2).')
    if kind == "delta":
        high = _reach(composition) if most is None else positive(most, name="most")
        return draw_delta_bracket(
            lambda eps: _ends(composition, eps),
            epsilons=[high * part / _PARTS for part in range(_PARTS + 1)],
            others={name: _method(composition, name) for name in compare},
        )
    if kind == "distribution":
        found, infinite = cells(composition)
        return draw_composed_loss(found, infinite=infinite)
    if kind == "tradeoff":
        return draw_tradeoff({"all releases": _curve(composition)})
    raise Refusal(f"A plot of a composition is one of {', '.join(KINDS)}.", cure='Write it as in plot("delta").')


def _ends(composition: Composition, eps: Fraction) -> Bracket:
    """Without a law, the least of what is in closed form: to look for more takes long, and finds little."""
    if all(has_law(loss) for loss, _ in composition.parts):
        return composition.bracket(epsilon=eps, accuracy=_ACCURACY)
    most = min((delta for _, delta in upper_deltas(composition, eps)), default=Fraction(1))
    return Bracket("delta", eps, Fraction(0), most, "closed")


def _curve(composition: Composition) -> Callable[[Fraction], Enclosure]:
    """As `tradeoff` says, at each alpha; deltas that were found are used again."""
    known: dict[Fraction, Bracket] = {}
    lower = by_deltas(composition)

    def at(alpha: Fraction) -> Enclosure:
        if alpha in (0, 1):
            return tradeoff(composition, alpha=alpha)
        found = both_ends(composition, alpha, known=known)
        return lower(alpha) if found is None else found

    return at


def _reach(composition: Composition) -> Fraction:
    """To two figures, about where delta is 1e-6; 1 where it always is that small."""
    from dpcurator.numbers.decimal_search import decimal_at, place_of

    far = composition.epsilon(delta=Fraction(1, 10**6))
    return decimal_at(place_of(far, 2) + 1, 2) if far else Fraction(1)


def _method(composition: Composition, name: str) -> Callable[[Fraction], Fraction | None]:
    if name not in DELTAS:
        raise Refusal(f"{name!r} is no method here.", cure=f"Write one of {', '.join(DELTAS)}.")
    return lambda eps: dict(upper_deltas(composition, eps)).get(name)
