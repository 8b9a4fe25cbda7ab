"""The charts of a composition, by name: what `dp.plot` draws of it.

"delta" has certified brackets, and `compare` simpler methods beside them; "tradeoff" the curve between its proved ends;
"distribution" is estimated. Checked in tests/plots/test_composition.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from dpcurator.accounting.bracket import Bracket, has_law
from dpcurator.accounting.closed.bounds import METHODS, upper_deltas
from dpcurator.accounting.composed_tradeoff import Deltas, both_ends
from dpcurator.accounting.estimate.composed_law import cells
from dpcurator.accounting.tradeoff import by_deltas, tradeoff
from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, positive
from dpcurator.plots.chart import Chart
from dpcurator.plots.composed_loss import draw_composed_loss
from dpcurator.plots.delta_bracket import draw_delta_bracket
from dpcurator.plots.tradeoff import draw_tradeoff

if TYPE_CHECKING:
    from dpcurator.accounting.composition import Composition

_PARTS = 40
_ACCURACY = Fraction(1, 100)  # of a line's width


def kinds(composition: Composition) -> Mapping[str, Callable[..., Chart]]:
    """The kinds of chart of a composition, each with the function that draws it."""
    return {
        "delta": partial(_delta, composition),
        "distribution": partial(_distribution, composition),
        "tradeoff": partial(_tradeoff, composition),
    }


def _delta(composition: Composition, *, most: object = None, compare: Iterable[str] = ()) -> Chart:
    """most: the greatest epsilon; unless given, where delta is 1e-6 or so. compare: names of methods
    (closed/bounds.py), such as "zcdp"; another is refused."""
    high = _reach(composition) if most is None else positive(most, name="most")
    return draw_delta_bracket(
        lambda eps: _ends(composition, eps),
        epsilons=[high * part / _PARTS for part in range(_PARTS + 1)],
        others={name: _method(composition, name) for name in compare},
    )


def _distribution(composition: Composition) -> Chart:
    found, infinite = cells(composition.parts)
    return draw_composed_loss(found, infinite=infinite)


def _tradeoff(composition: Composition) -> Chart:
    return draw_tradeoff({"all releases": _curve(composition)})


def _ends(composition: Composition, eps: Fraction) -> Bracket:
    """Without a law, the least of what is in closed form: to look for more takes long, and finds little."""
    if all(has_law(loss) for loss, _ in composition.parts):
        return composition.bracket(epsilon=eps, accuracy=_ACCURACY)
    most = min((delta for _, delta in upper_deltas(composition.parts, eps)), default=Fraction(1))
    return Bracket("delta", eps, Fraction(0), most, "closed")


def _curve(composition: Composition) -> Callable[[Fraction], Enclosure]:
    """As `tradeoff` says, at each alpha; deltas that were found are used again."""
    deltas = Deltas(composition.parts)
    lower = by_deltas(composition)

    def at(alpha: Fraction) -> Enclosure:
        if alpha in (0, 1):
            return tradeoff(composition, alpha=alpha)
        found = both_ends(composition.parts, alpha, deltas=deltas)
        return lower(alpha) if found is None else found

    return at


def _reach(composition: Composition) -> Fraction:
    """To two figures, about where delta is 1e-6; 1 where it always is that small."""
    from dpcurator.numbers.decimal_search import decimal_at, place_of

    far = composition.epsilon(delta=Fraction(1, 10**6))
    return decimal_at(place_of(far, 2) + 1, 2) if far else Fraction(1)


def _method(composition: Composition, name: str) -> Callable[[Fraction], Fraction | None]:
    if name not in METHODS:
        raise Refusal(f"{name!r} is no method here.", cure=f"Write one of {', '.join(METHODS)}.")
    return lambda eps: dict(upper_deltas(composition.parts, eps, of=[name])).get(name)
