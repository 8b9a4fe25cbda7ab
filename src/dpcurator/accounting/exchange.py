"""Privacy loss distributions to and from other accountants: the objects of dp-accounting and of prv-accountant.

Definition  Read are their attributes, by name, and no package of theirs: dp-accounting's PrivacyLossDistribution (a
            pessimistic or optimistic mass on multiples of an interval, for removing and for adding), and prv's
            DiscretePrivacyRandomVariable (masses on a mesh, given that the loss is finite, and ln of the chance that it
            is; one direction).
Promise     What is imported is dp.loss_distribution of exactly their doubles: it dominates if theirs does. What is
            exported dominates the loss: points are connected (pld/discretise.py), each mass is rounded up to a double,
            what is above the last point is infinite, what is below the first is at it. For prv ln of what is finite is
            rounded down, and masses are divided by its exponential.
Limits      What floating point did before, in their convolutions, is not undone.
Checked     tests/accounting/test_exchange.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from dpcurator.accounting.pld.discretise import Cells, cells
from dpcurator.accounting.pld.lattice import beyond_grids, with_law
from dpcurator.errors import Refusal
from dpcurator.numbers import positive, rational
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.numbers.rational import from_0_below_1
from dpcurator.privacy.families import FAMILIES
from dpcurator.privacy.loss import Loss
from dpcurator.privacy.own import loss_distribution

if TYPE_CHECKING:
    from dpcurator.numbers.rational import Spelled

_TAIL = 1e-22  # a chance that is left out below, or is infinite above
_MOST = 50_000  # points
_WRITE = "Give a PrivacyLossDistribution of dp-accounting, or a DiscretePrivacyRandomVariable of prv-accountant."


def import_pld(
    pld: Any,
    *,
    width: Spelled | None = None,
    outside: Spelled | None = None,
    backward: Literal["same", "exchanged"] | None = None,
) -> Loss:
    """A privacy loss distribution of dp-accounting or prv-accountant, as a loss that composes like any other.

    Promise: it is dp.loss_distribution of exactly its doubles, moved up by `width`. It dominates the release if theirs
    does.

    Parameters:
        pld: a PrivacyLossDistribution of dp-accounting, or a DiscretePrivacyRandomVariable of prv-accountant.
        width: number >= 0, by how much a loss may have been moved down. Not for a pessimistic distribution; for one
            discretised by prv, the mesh.
        outside: number in [0, 1), for prv alone: the probability of losses beyond the domain, which it leaves out; they
        are counted as infinite.
        backward: for prv alone, which models one direction: what the other is, as in dp.loss_distribution.

    Returns a dp.Loss. Raises Refusal if it is neither, or what is needed is missing.

    >>> import dpcurator as dp
    >>> from types import SimpleNamespace as Theirs
    >>> pmf = Theirs(_loss_probs={-10: 0.25, 10: 0.75}, _discretization=0.1, _infinity_mass=0.0)
    >>> pmf._pessimistic_estimate = True
    >>> loss = dp.import_pld(Theirs(_pmf_remove=pmf, _pmf_add=pmf))
    >>> float(loss.delta(0).hi) < 0.48
    True

    Source: Doroshenko et al. 2022 (dp-accounting); Gopi, Lee, Wutschitz 2021 (prv-accountant).
    """
    if hasattr(pld, "_pmf_remove") and hasattr(pld, "_pmf_add"):
        if outside is not None or backward is not None:
            raise Refusal("dp-accounting says itself what is infinite, and both directions.", cure="Leave both out.")
        return _from_dp_accounting(pld, width)
    if hasattr(pld, "pmf") and hasattr(pld, "domain"):
        return _from_prv(pld, width, outside, backward)
    raise Refusal(f"{type(pld).__name__} is no privacy loss distribution that is known here.", cure=_WRITE)


def _from_dp_accounting(pld: Any, width: object) -> Loss:
    remove, add = pld._pmf_remove, pld._pmf_add
    if remove._pessimistic_estimate and add._pessimistic_estimate:
        how: dict[str, Any] = {"rounding": "pessimistic"}
        if width is not None:
            raise Refusal("A pessimistic distribution was rounded up.", cure="Leave width= out.")
    elif width is None:
        raise Refusal(
            "An optimistic distribution bounds nothing from above.",
            cure="Make it with pessimistic_estimate=True, or say by how much losses were moved down: width=1e-4, "
            "times the number of compositions.",
        )
    else:
        how = {"rounding": "optimistic", "width": width}
    forward = _masses(remove)
    return loss_distribution(*forward, backward="same" if add is remove else _masses(add), **how)


def _masses(pmf: Any) -> tuple[list[Fraction], list[Fraction]]:
    step = Fraction(float(pmf._discretization))
    if hasattr(pmf, "_loss_probs"):
        found = sorted(pmf._loss_probs.items())
    else:
        found = [(pmf._lower_loss + i, mass) for i, mass in enumerate(pmf._probs)]
    kept = [(int(i) * step, Fraction(float(mass))) for i, mass in found if mass > 0] or [(Fraction(0), Fraction(0))]
    return _less([loss for loss, _ in kept], [mass for _, mass in kept], Fraction(float(pmf._infinity_mass)))


def _less(losses: list[Fraction], masses: list[Fraction], infinite: Fraction) -> tuple[list[Fraction], list[Fraction]]:
    """With at least this much missing: taken from the lowest losses, where sums of doubles pass what is left."""
    over = sum(masses) + infinite - 1
    for i, mass in enumerate(masses):
        if over <= 0:
            break
        masses[i], over = mass - min(mass, over), over - min(mass, over)
    return losses, masses


def _from_prv(pld: Any, width: object, outside: object, backward: Any) -> Loss:
    if width is None or outside is None or backward is None:
        raise Refusal(
            "A discrete privacy random variable does not say what it rounded and left out, nor the other direction.",
            cure='Say all: import_pld(prv, width=prv.domain.dt(), outside=1e-12, backward="same").',
        )
    with precision(1200):  # a double next to 0 leaves 1 less than 2**-1074
        finite = bracket(ball(Fraction(float(pld.log_pmc_inf))).exp()).lo
    left = max(finite - from_0_below_1(outside, name="outside"), Fraction(0))
    start, step = Fraction(float(pld.domain.t_min())), Fraction(float(pld.domain.dt()))
    kept = [(start + i * step, left * Fraction(float(mass))) for i, mass in enumerate(pld.pmf) if mass > 0]
    losses, masses = _less([loss for loss, _ in kept], [mass for _, mass in kept], 1 - left)
    return loss_distribution(losses, masses, rounding="nearest", width=rational(width, name="width"), backward=backward)


def export_pld(
    loss: Loss, *, step: Spelled = "1e-3", form: Literal["dp_accounting", "prv"] = "dp_accounting"
) -> dict[str, dict[str, Any]]:
    """A loss as the arguments from which dp-accounting or prv-accountant makes a privacy loss distribution.

    Promise: it dominates the loss, in each direction: masses on a grid are made by connecting the dots and rounded up.

    Parameters:
        loss: a dp.Loss whose distribution is known.
        step: number > 0, between two points of the grid.
        form: "dp_accounting": arguments of `pld_pmf.create_pmf`; "prv": pmf and log_pmc_inf of
            `DiscretePrivacyRandomVariable`, and those of its `Domain`.

    Returns a dict with "remove" and "add", of the two directions. Raises Refusal if no distribution is known, or it has
    more than 50,000 points.

    >>> import dpcurator as dp
    >>> made = dp.export_pld(dp.Loss("laplace", scale=1, shift=1), step="0.1")["remove"]
    >>> made["discretization"], max(made["loss_probs"]), made["infinity_mass"], made["pessimistic_estimate"]
    (0.1, 10, 0.0, True)

    Source: Doroshenko et al. 2022 (connecting the dots).
    """
    if form not in ("dp_accounting", "prv"):
        raise Refusal(f"form is {str(form)[:40]!r}.", cure='Write form="dp_accounting" or form="prv".')
    grid = Fraction(float(positive(step, name="step")))  # the double that they will have
    found = {}
    for way, one in (("remove", loss), ("add", loss.reversed)):
        row = _row(one, grid)
        first = row.places[0]
        if form == "dp_accounting":
            with precision(128):
                masses, infinite = [_up(mass) for mass in row.upper], _up(row.above)
            found[way] = {
                "loss_probs": {first + i: mass for i, mass in enumerate(masses) if mass},
                "discretization": float(grid),
                "infinity_mass": infinite,
                "pessimistic_estimate": True,
            }
        else:
            masses, log_finite = _given_finite(row)
            masses += [0.0] * (len(masses) % 2)  # its domain has an even size
            found[way] = {
                "pmf": masses,
                "t_min": first * float(grid),
                "t_max": (first + len(masses) - 1) * float(grid),
                "size": len(masses),
                "log_pmc_inf": log_finite,
            }
    return found


def _row(loss: Loss, step: Fraction) -> Cells:
    known = with_law(loss)
    if beyond_grids(loss):
        raise Refusal("The losses are too large for a grid.", cure="Account for it here.")
    first, last = _span(loss, step)
    if known.reach is not None:
        assert known.lattice is not None
        reach, lowest = known.reach(loss.given), known.lattice(loss.given).lowest
        first = max(first, math.floor((-reach if lowest is None else lowest) / step))
        last = min(last, math.ceil(reach / step))
    if last - first >= _MOST:
        raise Refusal(f"That is {last - first + 1:,} points, more than {_MOST:,}.", cure="Take a wider step.")
    return cells(loss, anchor=Fraction(0), step=step, first=first, last=max(last, first + 1))


def _given_finite(row: Cells) -> tuple[list[float], float]:
    """The masses given that the loss is finite, rounded up, and ln of the chance that it is, rounded down."""
    with precision(256):
        log = (-row.above).log1p()
        if not log.is_finite():
            raise Refusal("Nearly every loss is infinite.", cure='Write form="dp_accounting".')
        log_finite = -_up(-log)
        finite = ball(Fraction(log_finite)).exp()
        return [_up(mass / finite) for mass in row.upper], log_finite


def _up(mass: Any) -> float:
    most = max(bracket(mass).hi, Fraction(0))
    near = float(most)
    return near if Fraction(near) >= most else math.nextafter(near, math.inf)


def _span(loss: Loss, step: Fraction) -> tuple[int, int]:
    """The points between which all but a tail lies, by tails in doubles."""
    import numpy as np

    tails = FAMILIES[loss.family].float_tails
    assert tails is not None
    both, h = tails(loss.given), float(step)
    infinite = float(loss.distribution(atoms=1).infinite)

    def above(i: int) -> tuple[float, float]:
        p, q = both(np.array([i * h]))
        return float(p[0]) - infinite, float(q[0])

    most = 2 * _MOST
    last = next((i for i in _powers(most) if above(i)[0] <= _TAIL), most)
    first = next((-i for i in _powers(most) if 1 - above(-i)[1] <= _TAIL or i * h > 60), -most)
    lowest = _least(first, last, lambda i: 1 - above(i)[1] > _TAIL) - 1
    return lowest, _least(first, last, lambda i: above(i)[0] <= _TAIL) + 1  # an atom may lie just above a point


def _powers(most: int) -> list[int]:
    return [1 << k for k in range(most.bit_length())]


def _least(low: int, high: int, enough: Any) -> int:
    """The least i in (low, high] at which `enough` holds, which then holds on; or high."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
