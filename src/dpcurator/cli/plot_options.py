"""What the options of `dpcurator plot` name: noises, their losses, what an epsilon buys, and bounds on delta.

Checked in tests/cli/test_plot.py.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpcurator.cli.noise_names import LIST, SIZED, SPELLED
from dpcurator.errors import Refusal
from dpcurator.mechanisms.protocol import Row, Sized
from dpcurator.numbers import Enclosure, exp_neg, positive
from dpcurator.numbers.decimal_search import decimal_at, place_of
from dpcurator.privacy.calibration import Calibration
from dpcurator.privacy.loss import Loss
from dpcurator.privacy.zcdp import delta_of


def _sized(mechanism: str) -> Sized:
    """How noise is made of a size. Raises Refusal for noise that is made from an epsilon only, and for none known."""
    found = _row(mechanism).sized
    if found is None:
        raise Refusal(f"{mechanism} noise has no scale.", cure=f"Write {SIZED}.")
    return found


def _row(mechanism: str) -> Row:
    if mechanism not in SPELLED:
        raise Refusal(f"there is no noise {mechanism!r} to draw.", cure=f"Write {LIST}.")
    return SPELLED[mechanism]


def noise_of(mechanism: str, scales: list[str] | None, sensitivity: str) -> dict[str, Any]:
    """The mechanisms of these scales, by the names of a legend. Raises Refusal for none that is known."""
    sized, moved = _sized(mechanism), positive(sensitivity, name="sensitivity")
    return {
        f"{sized.name} {scale}": sized.make(SPELLED[mechanism].cls, spread, moved)
        for scale, spread in _spreads(scales).items()
    }


def losses_of(mechanism: str, scales: list[str] | None, sensitivity: str) -> dict[str, Any]:
    """What the noise of each scale reveals: the distributions on the real line, or those on the whole numbers.

    They are those that `dpcurator account` knows by these names.
    """
    sized, moved = _sized(mechanism), positive(sensitivity, name="sensitivity")
    family = mechanism.replace("-", "_")
    return {
        f"{sized.name} {scale}": Loss(family, {sized.name: spread, "sensitivity": moved})
        for scale, spread in _spreads(scales).items()
    }


def _spreads(scales: list[str] | None) -> dict[str, Fraction]:
    wanted = scales or ["1", "2", "4"]
    if len(set(wanted)) < len(wanted):
        raise Refusal("a scale is given twice.", cure="Give each once.")
    return {scale: positive(scale, name="scale") for scale in wanted}


def words(mechanism: str, delta: str) -> str:
    """What it is called in a legend."""
    words = mechanism.replace("gaussian", "Gaussian").replace("laplace", "Laplace").replace("-", " ")
    return f"{words}, delta {delta}" if _row(mechanism).cls.calibration.curve else words


def maker(mechanism: str, sensitivity: str, delta: str) -> Callable[[Fraction], Any]:
    """The noise that an epsilon buys: at this delta, where the noise has one."""
    row = _row(mechanism)
    how: Calibration = row.cls.calibration
    given = {"sensitivity": sensitivity}
    if how.curve is None:
        return lambda eps: how.make(row.cls, eps, given)[0]
    curve, most = how.curve, positive(delta, name="delta")
    return lambda eps: curve(row.cls, eps, most, given)[0]


def up_to(most: str) -> list[Fraction]:
    """From 0 to there, in 100 equal steps."""
    high = positive(most, name="--to")
    return [high * part / 100 for part in range(101)]


def epsilons(least: str, most: str) -> list[Fraction]:
    """About 40 decimals of three figures, the ends among them."""
    low, high = positive(least, name="--from"), positive(most, name="--to")
    if low >= high:
        raise Refusal("--from must be below --to.", cure="Write them as in --from 0.1 --to 10.")
    first, last = place_of(low, 3), place_of(high, 3)
    inner = {decimal_at(first + (last - first) * part // 40, 3) for part in range(41)}
    return [low, *sorted(eps for eps in inner if low < eps < high), high]


def bound_of(bound: str, loss: Any) -> Callable[[Fraction], Enclosure | Fraction | None]:
    """What is often used in place of the exact curve: an upper bound on it, or None where that is not proved.

    The textbook's delta is 1.25 exp(-c**2 / 2), c = sigma epsilon / sensitivity; its proof (Dwork, Roth 2014, theorem
    A.1) is for epsilon below 1, c of at least 3/2, and noise on the real line.
    """
    if bound == "rho":
        rho = loss.rho()
        return lambda eps: delta_of(rho, eps)
    if bound == "textbook" and loss.family == "gaussian":
        ratio = loss["variance"] / loss["shift"] ** 2

        def textbook(eps: Fraction) -> Enclosure | None:
            squared = eps**2 * ratio
            return Fraction(5, 4) * exp_neg(squared / 2) if eps < 1 and squared >= Fraction(9, 4) else None

        return textbook
    raise Refusal(f"there is no bound {bound!r} of this noise.", cure="Write rho or, of gaussian, textbook.")
