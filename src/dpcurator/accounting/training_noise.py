"""The noise for a target: the least noise multiplier found with which a DP-SGD run is certified to meet it.

Promise     What is returned was proved to meet the target, by the bracket of the run's composition or its trade-off.
            Targets that any noise meets, and those that no noise up to a million meets, are refused, each with one that
            is searched for.
Proof       accounting/composed_tradeoff.py, pld/certified.py; no_noise.py says what any noise meets.
Checked     tests/accounting/test_noise_targets.py, tests/accounting/test_training.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from dpcurator.accounting.no_noise import any_noise, below, drawn, least_missed
from dpcurator.accounting.training import dpsgd
from dpcurator.errors import Refusal
from dpcurator.numbers import decimal_text
from dpcurator.numbers.rational import at_least_0, between_0_and_1
from dpcurator.privacy.sampled import rate_of, way_of

if TYPE_CHECKING:
    from dpcurator.numbers.rational import Spelled

_NEAR, _NOISIEST = Fraction(1, 200), Fraction(10**6)
_LEAST = Fraction(1, 1000)


def noise_multiplier(
    *,
    epsilon: Spelled | None = None,
    delta: Spelled | None = None,
    advantage: Spelled | None = None,
    error_rates: tuple[Spelled, Spelled] | None = None,
    batch: int | None = None,
    rows: int | None = None,
    rate: Spelled | None = None,
    epochs: Spelled | None = None,
    steps: int | None = None,
    sampling: str = "poisson",
    neighbours: str | None = None,
    largest_batch: int | None = None,
) -> Fraction:
    """The least noise multiplier found with which a DP-SGD run is certified to meet a target.

    The target is an epsilon at a delta; or the advantage of the best membership test; or a pair of its error rates.

    Promise: dpsgd(noise_multiplier=<what is returned>, ...) was proved to meet the target: at most this epsilon at this
    delta, at most this advantage, or no test with a false positive rate of the first and a false negative rate below
    the second error rate. It is within about half a percent of the least that can be proved.

    Parameters:
        epsilon, delta: numbers > 0 and in (0, 1), of the whole run; or
        advantage: number in (0, 1), the most that 1 less both error rates may be; or
        error_rates: a pair of numbers in (0, 1), a false positive rate and the least false negative rate with it.
        batch, rows, rate, epochs, steps, sampling, neighbours, largest_batch: as in dp.dpsgd.

    Returns a Fraction. Raises Refusal if a parameter is missing or out of its range, no noise up to a million meets
    the target, or any noise does, as where few rows are ever drawn.

    >>> import dpcurator as dp
    >>> sigma = dp.noise_multiplier(epsilon=2, delta="1e-5", rate=1, steps=4)
    >>> float(dp.dpsgd(noise_multiplier=sigma, rate=1, steps=4).epsilon(delta="1e-5")) <= 2
    True
    >>> sigma = dp.noise_multiplier(error_rates=("0.05", "0.9"), rate=1, steps=4)  # 90 % of members are missed
    >>> dp.tradeoff(dp.dpsgd(noise_multiplier=sigma, rate=1, steps=4), alpha="0.05").lo >= 0.9
    True

    Source: Abadi et al. 2016; Balle, Wang 2018 (calibration by the curve); Kulynych et al. 2024 (by attack rates).
    """
    run: dict[str, Any] = {"batch": batch, "rows": rows, "rate": rate, "epochs": epochs, "steps": steps,
                           "sampling": sampling, "neighbours": neighbours, "largest_batch": largest_batch}  # fmt: skip
    targets = [epsilon is not None or delta is not None, advantage is not None, error_rates is not None]
    if sum(targets) != 1 or (epsilon is None) != (delta is None):
        raise Refusal(
            "A target is an epsilon with its delta, an advantage, or a pair of error rates.",
            cure="Write noise_multiplier(epsilon=2, delta=1e-5, batch=256, rows=60_000, epochs=60).",
        )
    if sampling in ("poisson", "fixed_size"):
        parts = dpsgd(noise_multiplier=1, **run).parts
        share, count = min(rate_of(loss) for loss, _ in parts), max(count for _, count in parts)
    else:  # every row is in some step
        dpsgd(noise_multiplier=1, **(run | {"sampling": "all", "neighbours": None}))
        share, count = Fraction(1), 1
    if error_rates is not None:
        replaced = sampling == "fixed_size" or neighbours == "replace-one"
        return _searched(_by_error_rates(_pair(error_rates), run, share, count, replaced=replaced))
    name = "delta" if advantage is None else "advantage"
    eps = Fraction(0) if epsilon is None else at_least_0(epsilon, name="epsilon")
    most = between_0_and_1(delta if advantage is None else advantage, name=name)
    _refuse_of_any(most, name, share, count)
    if sampling == "allocated" or neighbours is not None or largest_batch is not None:
        return _searched(_by_delta(eps, most, name, run))
    return _calibrated(eps, most, run)


def _refuse_of_any(most: Fraction, name: str, share: Fraction, count: int) -> None:
    """Where a delta at any epsilon, the advantage among them, is met without noise."""
    t = drawn(share, count)
    if most >= t.hi:
        raise Refusal(any_noise(share, count), cure=f"Write {name}={decimal_text(below(t.lo))}, or less.")


def _calibrated(epsilon: Fraction, delta: Fraction, run: dict[str, Any]) -> Fraction:
    """By dp.calibrate, which knows one Gaussian loss and its samples."""
    from dpcurator.accounting.calibrate import calibrate
    from dpcurator.numbers.roots import root_above

    ((loss, count),) = dpsgd(noise_multiplier=1, **run).parts
    way = way_of(loss)
    sample: dict[str, Any] = {} if way is None else {way: rate_of(loss)}
    found = calibrate(
        "gaussian", epsilon=epsilon, delta=delta, sensitivity=loss["shift"], releases=count, tight=True, **sample
    )
    return _up(root_above(found.loss["variance"], 10**12))


@dataclass(frozen=True, slots=True)
class _Target:
    """enough: is this noise proved to do? stronger: what to ask for where hardly any noise is needed; weaker: where no
    noise does."""

    enough: Callable[[Fraction], bool]
    stronger: str
    weaker: str


def _by_delta(epsilon: Fraction, most: Fraction, name: str, run: dict[str, Any]) -> _Target:
    def enough(sigma: Fraction) -> bool:
        return dpsgd(noise_multiplier=sigma, **run).bracket(epsilon=epsilon, accuracy=_NEAR).upper <= most

    cut = " Or take a larger largest_batch." if run["largest_batch"] is not None else ""
    return _Target(enough, f"Write {name}={decimal_text(below(most))}, or less.", f"Ask for a larger {name}.{cut}")


def _pair(given: tuple[Spelled, Spelled]) -> tuple[Fraction, Fraction]:
    try:
        alpha, beta = (between_0_and_1(one, name="an error rate") for one in given)
    except (TypeError, ValueError):
        raise Refusal("error_rates is no pair of numbers.", cure='Write error_rates=("0.05", "0.9").') from None
    if alpha + beta >= 1:
        raise Refusal(
            "No noise does: a test that looks at nothing has error rates that add up to 1.",
            cure=f"Write {_written(alpha, _least_digits((1 - alpha) * Fraction(9, 10)))}.",
        )
    return alpha, beta


def _by_error_rates(
    pair: tuple[Fraction, Fraction], run: dict[str, Any], share: Fraction, count: int, *, replaced: bool
) -> _Target:
    from dpcurator.accounting.tradeoff import tradeoff

    alpha, beta = pair
    missed = least_missed(share, count, alpha, replaced=replaced)
    stronger = f"Write {_written(alpha, _least_digits((max(missed, beta) + 1 - alpha) / 2))}."
    if beta <= missed:
        raise Refusal(any_noise(share, count), cure=stronger)
    near = (1 - alpha - beta) / 200

    def enough(sigma: Fraction) -> bool:
        return tradeoff(dpsgd(noise_multiplier=sigma, **run), alpha=alpha, accuracy=near).lo >= beta

    cut = " Or take a larger largest_batch." if run["largest_batch"] is not None else ""
    return _Target(enough, stronger, f"Ask for a smaller second rate.{cut}")


def _written(alpha: Fraction, beta: Fraction) -> str:
    return f'error_rates=("{decimal_text(alpha)}", "{decimal_text(beta)}")'


def _least_digits(value: Fraction) -> Fraction:
    """Rounded down to so few digits that it stays within a percent of 1 less it."""
    places = 2
    while (1 - value) * 10**places < 100 and places < 400:
        places += 1
    return Fraction(value * 10**places // 1, 10**places)


def _searched(target: _Target) -> Fraction:
    """The least found by halves that is enough, each looked at and the last one proved."""

    def enough(sigma: Fraction) -> bool:
        try:
            return target.enough(sigma)
        except Refusal:  # of a loss that is too large, or too flat, to be bracketed
            return False

    low, high = Fraction(0), Fraction(1)
    while not enough(high):
        if low == 0 and not enough(_NOISIEST):
            raise Refusal("No noise up to a million was proved to be enough.", cure=target.weaker)
        low, high = high, high * 2
    while low == 0 and high > _LEAST:
        middle = high / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    if low == 0:
        raise Refusal("Noise of a thousandth of the clipping norm meets this target: any noise does.",
                      cure=target.stronger)  # fmt: skip
    while high > low * (1 + _NEAR):
        middle = Fraction(ceil((low + high) / 2 * 10**10), 10**10)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _up(sigma: Fraction) -> Fraction:
    """To 10 places, which people can read."""
    return Fraction(ceil(sigma * 10**10), 10**10)
