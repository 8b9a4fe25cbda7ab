"""What the options of `dpcurator plot` name: noises, their losses, what an epsilon buys, and bounds on delta.

Checked in tests/cli/test_plot.py.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpcurator.errors import Refusal
from dpcurator.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from dpcurator.numbers import Enclosure, exp_neg, positive, whole
from dpcurator.numbers.decimal_search import decimal_at, place_of
from dpcurator.privacy.loss import Loss
from dpcurator.privacy.zcdp import delta_of

LIST = "laplace, gaussian, discrete-laplace or discrete-gaussian"


def noise_of(mechanism: str, scales: list[str] | None, sensitivity: str) -> dict[str, Any]:
    """The mechanisms of these scales, by the names of a legend. Raises Refusal for none that is known."""

    def made(scale: Fraction) -> Any:
        match mechanism:
            case "laplace":
                return Laplace.with_scale(scale=scale, sensitivity=sensitivity)
            case "gaussian":
                return Gaussian.with_sigma(sigma=scale, sensitivity=sensitivity)
            case "discrete-laplace":
                return DiscreteLaplace(scale)
            case "discrete-gaussian":
                return DiscreteGaussian(scale**2)
        raise _unknown(mechanism)

    word = "sigma" if mechanism.endswith("gaussian") else "scale"
    wanted = scales or ["1", "2", "4"]
    if len(set(wanted)) < len(wanted):
        raise Refusal("a scale is given twice.", cure="Give each once.")
    return {f"{word} {scale}": made(positive(scale, name="scale")) for scale in wanted}


def losses_of(mechanism: str, scales: list[str] | None, sensitivity: str) -> dict[str, Any]:
    """What the noise of each scale reveals: the laws on the real line, or those on the whole numbers."""
    moved = positive(sensitivity, name="sensitivity")
    found: dict[str, Any] = {}
    for name, noise in noise_of(mechanism, scales, sensitivity).items():
        spread = positive(name.split()[1], name="scale")
        if mechanism == "laplace":
            found[name] = Loss("laplace", (("scale", spread), ("shift", moved)))
        elif mechanism == "gaussian":
            found[name] = Loss("gaussian", (("shift", moved), ("variance", spread**2)))
        else:
            found[name] = noise.loss(whole(sensitivity, name="sensitivity", least=1))
    return found


def _unknown(mechanism: str) -> Refusal:
    return Refusal(f"there is no noise {mechanism!r} to draw.", cure=f"Write {LIST}.")


def words(mechanism: str, delta: str) -> str:
    """What it is called in a legend."""
    words = mechanism.replace("gaussian", "Gaussian").replace("laplace", "Laplace").replace("-", " ")
    return f"{words}, delta {delta}" if "Gaussian" in words else words


def maker(mechanism: str, sensitivity: str, delta: str) -> Callable[[Fraction], Any]:
    """The noise that an epsilon buys."""
    makers: dict[str, Callable[[Fraction], Any]] = {
        "laplace": lambda eps: Laplace(sensitivity=sensitivity, epsilon=eps),
        "gaussian": lambda eps: Gaussian(sensitivity=sensitivity, epsilon=eps, delta=delta),
        "discrete-laplace": lambda eps: DiscreteLaplace.spending(eps, sensitivity=_whole(sensitivity)),
        "discrete-gaussian": lambda eps: DiscreteGaussian.spending(
            eps, positive(delta, name="delta"), sensitivity=_whole(sensitivity)
        ),
    }
    if mechanism not in makers:
        raise _unknown(mechanism)
    return makers[mechanism]


def _whole(sensitivity: str) -> int:
    return whole(sensitivity, name="sensitivity", least=1)


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


def bound_of(bound: str, mechanism: str, loss: Any) -> Callable[[Fraction], Enclosure | Fraction | None]:
    """What is often used in place of the exact curve: an upper bound on it, or None where that is not proved.

    The textbook's delta is 1.25 exp(-c**2 / 2), c = sigma epsilon / sensitivity; its proof (Dwork, Roth 2014, theorem
    A.1) is for epsilon below 1, c of at least 3/2, and noise on the real line.
    """
    if bound == "rho":
        rho = loss.rho()
        return lambda eps: delta_of(rho, eps)
    if bound == "textbook" and mechanism == "gaussian":
        ratio = loss["variance"] / loss["shift"] ** 2

        def textbook(eps: Fraction) -> Enclosure | None:
            squared = eps**2 * ratio
            return Fraction(5, 4) * exp_neg(squared / 2) if eps < 1 and squared >= Fraction(9, 4) else None

        return textbook
    raise Refusal(f"there is no bound {bound!r} of this noise.", cure="Write rho or, of gaussian, textbook.")
