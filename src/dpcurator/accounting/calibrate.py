"""Calibration: the least noise for a target (epsilon, delta), rho or error, for one release or for k.

Definition  One privacy parameter of a mechanism is varied: its epsilon a release (Laplace, exponential, randomised
            response, ...) or its rho (the Gaussians), as its class declares (privacy/calibration.py). It is raised, by
            decimals of 8 figures, as far as the target is still proved for k releases; for an error, lowered as far as
            the error still does. A delta that a mechanism must have itself is all of the target's for one release, and
            half of it shared by several. Besides: one release of Gaussian noise is calibrated by its own curve, and
            "laplace" and "gaussian" are the continuous distributions, which no computer draws: these have a loss and no
            mechanism, and k Gaussians are exactly one.
Promise     What is returned was proved to meet the target, as `proved` says; `by` names the bound
            (closed/bounds.py). A search that ends early, or a bound that is no monotone function of it, could cost
            noise, never the promise. Several discrete Gaussians go by the sum of rho, or each by its curve at an equal
            share, with less noise.
            It is the least for one release, for the sum of pure epsilons and for continuous Gaussian noise. For several
            releases of Laplace or Gaussian noise the search goes on with the loss distribution (pld/certified.py),
            until what is proved is within a thousandth of the epsilon asked for; for other mechanisms it does so with
            `tight=True`, which also means a ten-thousandth, and on samples of the rows always. On a slow machine a
            loss distribution may be found less finely: that costs noise, again, and no promise.
Ends        Steps double away from a start, then halve: about 2 log2 of how many decimals lie between, some hundreds at
            most, for epsilon 0, a huge epsilon or a delta of 1e-300. With the loss distribution the next value is read
            off a line through the last two, in logarithms, and after 24 the best one is taken: two or three are usual.
            Several discrete Gaussians begin at the rho of as many continuous ones, sigma sqrt(k).
Source      Balle, Wang 2018 (the idea of calibrating by the curve itself).
Checked     tests/accounting/test_calibrate.py, tests/accounting/test_calibrate_every.py,
            tests/cases/test_calibration.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from inspect import signature
from typing import TYPE_CHECKING, Any

from dpcurator.accounting.bracket import SECONDS, Bracket
from dpcurator.accounting.closed.bounds import each_bound, upper_bounds
from dpcurator.accounting.composition import Composition
from dpcurator.accounting.no_noise import any_noise, below, drawn
from dpcurator.accounting.rounding import down
from dpcurator.errors import Refusal
from dpcurator.numbers import decimal_text, positive, rational, whole
from dpcurator.numbers.decimal_search import decimal_at, least_place, place_of
from dpcurator.numbers.readable import readable
from dpcurator.privacy import zcdp
from dpcurator.privacy.calibration import Calibration
from dpcurator.privacy.families import FAMILIES
from dpcurator.privacy.families.gaussian import gaussian_sigma
from dpcurator.privacy.loss import Loss
from dpcurator.privacy.sampled import rate_of

if TYPE_CHECKING:
    from dpcurator.numbers.rational import Spelled

_FIGURES, _NEAR_FIGURES = 8, 6
_MOST = Fraction(10**4)  # of the parameter varied: beyond, there is no noise to speak of
_LEAST = Fraction(1, 10**400)  # what is not proved there either is refused
_GAP, _TIGHT_GAP = Fraction(1, 1000), Fraction(1, 10**4)  # of the epsilon asked for, between it and what is proved
_TRIES = 24  # loss distributions at most, each of `_SECONDS` of CPU time at most, or of the usual time where tight
_SECONDS, _SEVERAL = 2, 20_000  # beyond so many releases a closed bound has to do, unless tight
_UNPROVED = "No noise level could be certified to meet this target."


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """What calibrate found: the mechanism, and what is proved of all its releases together.

    mechanism: of one release, None for a continuous distribution. proved: names and values that all releases together
    keep. by: what proved it."""

    mechanism: Any
    loss: Loss
    releases: int
    proved: Mapping[str, Fraction]
    by: str

    __repr__ = readable

    def __str__(self) -> str:
        what = " and ".join(f"{name} {decimal_text(value)}" for name, value in self.proved.items())
        times = "one release" if self.releases == 1 else f"{self.releases:,} releases together"
        return f"{self.mechanism or self.loss.worst_pair()}: {what} for {times}, by {self.by}."


@dataclass(frozen=True, slots=True)
class _Dial:
    """The parameter that is varied. make: the mechanism (or None) and the loss of one release at a value of it; start:
    a value to begin at."""

    make: Callable[[Fraction], tuple[Any, Loss]]
    start: Fraction


def calibrate(
    mechanism: Any,
    *,
    epsilon: Spelled | None = None,
    delta: Spelled | None = None,
    rho: Spelled | None = None,
    error: Spelled | None = None,
    beta: Spelled = Fraction(1, 20),
    releases: int = 1,
    sensitivity: Spelled | None = None,
    tight: bool = False,
    given: Mapping[str, object] | None = None,
    error_given: Mapping[str, object] | None = None,
    poisson: Spelled | None = None,
    fixed_size: Spelled | None = None,
) -> Calibrated:
    """Calibrates a mechanism: the least noise that meets one target of privacy or of error.

    One parameter of the mechanism, its epsilon or its rho, is raised by decimals of 8 figures as far as the target is
    still proved for all releases together; for an error, lowered as far as the error is still kept.

    Promise: what is returned was proved to meet the target; `proved` says what, and `by` names the bound.

    Parameters:
        mechanism: a class such as dp.Laplace, or "laplace" or "gaussian", continuous noise that has a loss only.
        epsilon, delta: a target: epsilon >= 0 and delta in [0, 1), 0 unless given, not both 0.
        rho: a target: number > 0.
        error: a target: number > 0 in the query's unit, kept with probability at least 1 - beta.
        beta: number in (0, 1).
        releases: int >= 1; the target is for all of them together.
        sensitivity: number > 0 of one release, in the query's unit, where the mechanism has one.
        tight: whether to go on until a ten-thousandth of epsilon is left, not a thousandth, and for every mechanism
            with the privacy loss distribution; it is slower and may need less noise.
        given: the mechanism's other parameters, by name.
        error_given: what else the mechanism's `error` takes (reports, candidates), by name.
        poisson, fixed_size: each release is of a random sample of the rows, as in dp.Loss.sampled; for an epsilon.

    Returns the mechanism, its loss and what is proved. Raises Refusal if there is not one target, the mechanism cannot
    be calibrated, or no noise level could be certified.

    >>> import dpcurator as dp
    >>> found = dp.calibrate(dp.Laplace, epsilon=1, sensitivity=10, releases=4)
    >>> found.mechanism.epsilon, found.proved["epsilon"], found.by
    (Fraction(1, 4), Fraction(1, 1), 'sum')

    Source: Balle, Wang 2018 (calibration by the curve itself).
    """
    for name, parameters in (("given", given), ("error_given", error_given)):
        if parameters is not None and not isinstance(parameters, Mapping):
            raise Refusal(f"{name} is parameters by their names.", cure=f'Write it as in {name}={{"values": 4}}.')
    count = whole(releases, name="releases", least=1)
    targets = [name for name, value in (("epsilon", epsilon), ("rho", rho), ("error", error)) if value is not None]
    if len(targets) != 1 or (delta is not None and targets != ["epsilon"]):
        raise Refusal(
            "calibrate takes one target: epsilon (and delta), rho, or error.", cure="Write epsilon=1, delta=1e-6."
        )
    declared = _declared(mechanism)
    named = dict(given or {}) | ({} if sensitivity is None else {"sensitivity": sensitivity})
    if epsilon is not None and delta is not None and "delta" not in named and declared and declared.needs_delta:
        alone = count == 1 and rational(epsilon, name="epsilon") > 0
        share = rational(delta, name="delta") / (1 if alone else 2 * count)  # of each; the rest is for all together
        named["delta"] = down(share) if share > 0 else share
    dial = _dial(mechanism, named)
    if poisson is not None or fixed_size is not None:
        if epsilon is None:
            raise Refusal("On samples noise is calibrated for an epsilon.", cure="Write epsilon=1, delta=1e-6.")
        dial = _sampled(dial, {"poisson": poisson, "fixed_size": fixed_size})
    if error is not None:
        return _for_error(dial, positive(error, name="error"), {"beta": beta, **(error_given or {})}, count)
    if rho is not None:
        return _for_rho(dial, positive(rho, name="rho"), count)
    eps, most = rational(epsilon, name="epsilon"), Fraction(0) if delta is None else rational(delta, name="delta")
    if eps < 0 or not 0 <= most < 1 or eps == most == 0:
        raise Refusal(
            "epsilon must be at least 0, and delta at least 0 and below 1, and not both 0: no noise does that.",
            cure="Write epsilon=1, delta=1e-6.",
        )
    if poisson is not None or fixed_size is not None:
        return _for_samples(dial, eps, most, count)
    exact = _exactly(mechanism, named, eps, most, count)
    if exact is not None:
        return exact
    if most and declared is not None and declared.by == "rho":
        return _of_gaussians(dial, mechanism, named, eps, most, count, tight)
    return _for_epsilon(dial, eps, most, count, tight)


def _of_gaussians(
    dial: _Dial, mechanism: Any, named: Mapping[str, Any], eps: Fraction, delta: Fraction, count: int, tight: bool
) -> Calibrated:
    """Several discrete Gaussians: by the sum of their rho, or each by its own curve at an equal share, if that is less
    noise."""

    def beyond(value: Fraction) -> bool:
        return zcdp.epsilon_of(count * dial.make(value)[1].rho(), delta) > eps

    setting = _greatest(beyond, eps / count or dial.start, _FIGURES)
    made, loss = dial.make(setting)
    proved = {"epsilon": zcdp.epsilon_of(count * loss.rho(), delta), "delta": delta}
    found = Calibrated(mechanism=made, loss=loss, releases=count, proved=proved, by="zcdp")
    share = _exactly(mechanism, named, eps / count, down(delta / count), 1)
    if share is not None and (share.loss.rho() > loss.rho() or proved["epsilon"] > eps):
        told = {"epsilon": eps, "delta": delta}
        found = Calibrated(mechanism=share.mechanism, loss=share.loss, releases=count, proved=told, by="sum")
    if found.proved["epsilon"] > eps:
        raise Refusal(_UNPROVED, cure="Ask for a larger epsilon or delta.")
    if not eps:
        return found
    near = 1 / (2 * count * gaussian_sigma(sensitivity=1, epsilon=eps, delta=delta) ** 2)
    return _closer(dial, found, eps, near * (1 - (_TIGHT_GAP if tight else _GAP) / 2), tight)


def _is_shifted(loss: Loss) -> bool:
    """Is it that of noise against itself moved, on all rows, and not of one Gaussian pair, which is exact already?"""
    known = FAMILIES[loss.family]
    return "shift" in loss.given and known.sample is None and known.mu_squared is None


def _closer(dial: _Dial, found: Calibrated, epsilon: Fraction, start: Fraction, tight: bool) -> Calibrated:
    """The same target by the loss distribution, or what was found, if that has no more noise. start: where the search
    begins; for Gaussians the rho of k continuous ones, from which theirs differs in the last figures alone (D10)."""
    if not tight and (not _is_shifted(found.loss) or found.releases > _SEVERAL):
        return found
    delta, how = found.proved["delta"], (_TIGHT_GAP, SECONDS) if tight else (_GAP, _SECONDS)
    try:
        setting, bracket = _nearest(dial, found.releases, _Goal(epsilon, delta), start, *how)
    except Refusal:
        return found
    made, loss = dial.make(setting)
    if loss.rho() <= found.loss.rho():
        return found
    proved = {"epsilon": bracket.upper, "delta": delta}
    return Calibrated(mechanism=made, loss=loss, releases=found.releases, proved=proved, by=bracket.method)


@dataclass(frozen=True, slots=True)
class _Goal:
    """epsilon > 0 at a delta, or a delta at epsilon 0."""

    epsilon: Fraction
    delta: Fraction

    @property
    def most(self) -> Fraction:
        return self.epsilon or self.delta

    @property
    def asked(self) -> dict[str, Fraction]:
        return {"delta": self.delta} if self.epsilon else {"epsilon": self.epsilon}


def _nearest(
    dial: _Dial, count: int, goal: _Goal, start: Fraction, gap: Fraction, seconds: float
) -> tuple[Fraction, Bracket]:
    """A value of the dial proved to meet the goal, and its bracket: within `gap` of the goal, or of a value that was
    not proved to. Raises Refusal if none was."""
    good: tuple[Fraction, Bracket] | None = None
    bad: Fraction | None = None
    before: tuple[float, float] | None = None
    at, slope, step, most = start, 1.0, 1.0, goal.most
    for _ in range(_TRIES):
        at = decimal_at(place_of(at, _NEAR_FIGURES), _NEAR_FIGURES)
        if (good and at <= good[0]) or (bad and at >= bad) or not _LEAST <= at <= _MOST:
            break
        try:
            parts = ((dial.make(at)[1], count),)
            found = Composition(parts).bracket(**goal.asked, accuracy=gap / 4, seconds=seconds)
        except Refusal:  # no epsilon at all
            found = None
        if found is not None and found.upper <= most:
            good = at, found
        else:
            bad = at
        if good and (good[1].upper >= most * (1 - gap) or (bad and bad <= good[0] * (1 + gap))):
            break
        if found is not None and found.upper > 0:
            here = math.log(at), math.log(found.upper / most)
            if before is not None and before != here and (here[1] - before[1]) / (here[0] - before[0]) > 0.1:
                slope = (here[1] - before[1]) / (here[0] - before[0])
            before = here
            at *= Fraction(math.exp((math.log1p(-float(gap) / 2) - here[1]) / slope))
        else:
            at *= Fraction(math.exp(step if found is not None else -step))
            step *= 2
        if good and bad and not good[0] < at < bad:
            at = (good[0] + bad) / 2
    if good is None:
        raise Refusal(_UNPROVED, cure="Ask for a larger epsilon or delta.")
    return good


def _for_epsilon(dial: _Dial, epsilon: Fraction, delta: Fraction, count: int, tight: bool) -> Calibrated:
    def best(setting: Fraction) -> tuple[str, Fraction] | None:
        found = upper_bounds(((dial.make(setting)[1], count),), delta, quick=True)
        return min(found, key=lambda bound: bound[1], default=None)

    def passes(setting: Fraction) -> bool:
        return all(bound > epsilon for _, bound in each_bound(((dial.make(setting)[1], count),), delta, quick=True))

    start = epsilon / count or dial.start
    if delta == 0 and best(start) is None:
        raise Refusal("No noise of this mechanism has delta 0.", cure="Give a delta above 0.")
    setting = start if not passes(start) and not delta else _greatest(passes, start, _FIGURES)
    made, loss = dial.make(setting)
    name, proved = best(setting) or ("sum", epsilon)
    if proved > epsilon:
        raise Refusal(_UNPROVED, cure="Ask for a larger epsilon or delta.")
    told = {"epsilon": proved, "delta": delta}
    found = Calibrated(mechanism=made, loss=loss, releases=count, proved=told, by=name)
    if count == 1 or not delta or not epsilon:
        return found
    return _closer(dial, found, epsilon, setting, tight)


def _sampled(dial: _Dial, how: Mapping[str, Any]) -> _Dial:
    def make(setting: Fraction) -> tuple[Any, Loss]:
        made, loss = dial.make(setting)
        return made, loss.sampled(**how)

    return _Dial(make, dial.start)


def _for_samples(dial: _Dial, epsilon: Fraction, delta: Fraction, count: int) -> Calibrated:
    """Pure epsilons add up; one release goes by its own curve, more by the loss distribution, near the estimate."""
    proved, by = {"epsilon": epsilon, "delta": delta}, "own curve"
    rate = rate_of(dial.make(dial.start)[1])
    if delta >= drawn(rate, count).hi:
        raise Refusal(
            any_noise(rate, count), cure=f"Write delta={decimal_text(below(drawn(rate, count).lo))}, or less."
        )
    if delta == 0:
        setting = _greatest(lambda value: count * dial.make(value)[1].pure_epsilon() > epsilon, dial.start, _FIGURES)
        made, loss = dial.make(setting)
        proved["epsilon"] = count * loss.pure_epsilon()
        if proved["epsilon"] > epsilon:
            raise Refusal(_UNPROVED, cure="Ask for a larger epsilon or delta.")
        return Calibrated(mechanism=made, loss=loss, releases=count, proved=proved, by="sum")
    if count == 1:
        setting = _greatest(lambda value: dial.make(value)[1].delta(epsilon).hi > delta, dial.start, _FIGURES)
        made, loss = dial.make(setting)
        if loss.delta(epsilon).hi > delta:
            raise Refusal(_UNPROVED, cure="Ask for a larger epsilon or delta.")
        return Calibrated(mechanism=made, loss=loss, releases=1, proved=proved, by=by)

    def beyond(value: Fraction) -> bool:
        try:
            return Composition(((dial.make(value)[1], count),)).estimate(**goal.asked) > goal.most
        except Refusal:  # no epsilon at all
            return True

    goal = _Goal(epsilon, delta)
    setting, bracket = _nearest(dial, count, goal, _greatest(beyond, dial.start, 4), _GAP, SECONDS)
    proved["epsilon"] = bracket.upper if epsilon else epsilon
    made, loss = dial.make(setting)
    return Calibrated(mechanism=made, loss=loss, releases=count, proved=proved, by=bracket.method)


def _for_rho(dial: _Dial, rho: Fraction, count: int) -> Calibrated:
    setting = _greatest(lambda value: count * dial.make(value)[1].rho() > rho, rho / count, _FIGURES)
    if count * dial.make(rho / count)[1].rho() <= rho:
        setting = max(setting, rho / count)
    made, loss = dial.make(setting)
    return Calibrated(mechanism=made, loss=loss, releases=count, proved={"rho": count * loss.rho()}, by="sum of rho")


def _for_error(dial: _Dial, error: Fraction, how: Mapping[str, object], count: int) -> Calibrated:
    def enough(place: int) -> bool:
        made = dial.make(decimal_at(place, _FIGURES))[0]
        if made is None:
            raise Refusal(
                "A continuous distribution has no error bar here.", cure="Name a mechanism, as in dp.Laplace."
            )
        try:
            signature(made.error).bind(**how)
        except (AttributeError, TypeError) as wrong:
            raise Refusal(
                f"The error of this mechanism cannot be asked for: {wrong}.",
                cure='Write what it takes, as in error_given={"candidates": 10}.',
            ) from None
        return bool(made.error(**how) <= error)

    def reached(place: int) -> bool:
        return place >= last or (place >= first and enough(place))

    first, last = place_of(_LEAST, _FIGURES), place_of(_MOST, _FIGURES)
    if not enough(last):
        raise Refusal("No noise has so small an error.", cure="Ask for a larger error, or a finer grid.")
    found = least_place(reached, place_of(dial.start, _FIGURES))
    if found <= first:
        raise Refusal("Any noise has so small an error: answers stay in a range.", cure="Ask for a smaller error.")
    made, loss = dial.make(decimal_at(found, _FIGURES))
    proved = {"error": Fraction(made.error(**how))}
    for name in ("rho", "epsilon"):
        try:
            proved[name] = count * (loss.rho() if name == "rho" else loss.pure_epsilon())
        except Refusal:
            continue
    return Calibrated(mechanism=made, loss=loss, releases=count, proved=proved, by="its own distribution")


def _exactly(mechanism: Any, named: Mapping[str, Any], eps: Fraction, delta: Fraction, count: int) -> Calibrated | None:
    """Gaussian noise by its own curve: k continuous ones, or one release of a discrete one."""
    if delta == 0:
        return None
    proved = {"epsilon": eps, "delta": delta}
    if mechanism == "gaussian":
        step = positive(named.get("sensitivity"), name="sensitivity")
        variance = count * (step * gaussian_sigma(sensitivity=1, epsilon=eps, delta=delta)) ** 2
        loss = Loss("gaussian", (("shift", step), ("variance", variance)))
        return Calibrated(mechanism=None, loss=loss, releases=count, proved=proved, by="gaussian")
    declared = _declared(mechanism)
    if count > 1 or declared is None or declared.curve is None:
        return None
    made, loss = declared.curve(mechanism, eps, delta, named)
    return Calibrated(mechanism=made, loss=loss, releases=1, proved=proved, by="own curve")


def _dial(mechanism: Any, named: Mapping[str, Any]) -> _Dial:
    one = Fraction(1)
    if isinstance(mechanism, str) and mechanism in ("laplace", "gaussian"):
        if set(named) - {"sensitivity"}:
            raise Refusal("This noise has a sensitivity and no other parameter.", cure="Leave `given` out.")
        step = positive(named.get("sensitivity"), name="sensitivity")
        if mechanism == "laplace":
            return _Dial(lambda value: (None, _loss("laplace", scale=step / value, shift=step)), one)
        return _Dial(lambda value: (None, _loss("gaussian", variance=step**2 / (2 * value), shift=step)), one)
    if not isinstance(mechanism, type):
        raise Refusal(
            "calibrate takes a mechanism's class, or the name of a continuous distribution.",
            cure='Write calibrate(dp.Laplace, ...) or calibrate("gaussian", ...).',
        )
    declared = _declared(mechanism)
    if declared is None:
        raise Refusal(
            f"{mechanism.__name__} cannot be calibrated: it declares neither an epsilon nor a rho to vary.",
            cure="Calibrate a mechanism such as dp.Laplace.",
        )
    return _Dial(lambda value: declared.make(mechanism, value, named), one)


def _declared(mechanism: Any) -> Calibration | None:
    """What the class itself says (privacy/calibration.py)."""
    found = getattr(mechanism, "calibration", None)
    return found if isinstance(found, Calibration) else None


def _greatest(passes: Callable[[Fraction], bool], start: Fraction, figures: int) -> Fraction:
    """The greatest decimal that does not pass, looked for from `start` > 0, and at most 10,000."""
    first, last = place_of(_LEAST, figures), place_of(_MOST, figures)

    def too_much(place: int) -> bool:
        return place > last or (place > first and passes(decimal_at(place, figures)))

    return decimal_at(least_place(too_much, min(place_of(start, figures), last) + 1) - 1, figures)


def _loss(family: str, **given: Fraction) -> Loss:
    return Loss(family, tuple(given.items()))
