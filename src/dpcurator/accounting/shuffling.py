"""What is proved of a training run whose batches are cut from a shuffled order: no amplification, and what it reveals.

Definition  In a pass the rows, in a random order, are cut into T batches; each row's gradient, of norm at most 1, is in
            one batch, and each batch's sum is shown with Gaussian noise of standard deviation s, for `epochs` passes.
            Neighbours have a row, or zero in the place of its gradient.
Promise     upper: of one Gaussian release of shift 1 a pass, for any order of the rows, a new or the same one for each
            pass, and for gradients that depend on what was shown before. lower: what a run of these very batches
            reveals at least, of a new uniform order. No amplification by the order is claimed, as none is proved for
            such batches: bounds of the shuffle model (Erlingsson et al. 2019; Feldman, McMillan, Talwar 2021) are for
            reports that are each randomised by themselves, which is a batch of one row with noise of its own; those of
            Poisson samples and of balls and bins are for batches drawn in those ways.
Proof       Upper: training.py, "shuffled". Lower: let all other gradients be -1, that of the row 1, along one line. A
            batch of b rows without the row sums to -b, with it to -b + 2, and with zero in its place to -b + 1; so,
            sums taken from there, a pass with the row in batch t is N(2 u_t, s**2) against N(u_t, s**2), u_t the unit
            vector of t. For the event that some sum is at least C, whichever t is,
                P(none) = Phi((C-2)/s) Phi(C/s)**(T-1),      Q(none) = Phi((C-1)/s) Phi(C/s)**(T-1),
            and delta at eps is at least P(some) - e**eps Q(some) for each C. C is searched in doubles, and the bound
            there is rounded down. More passes show no less.
Source      Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha, Zhang 2024 (arXiv 2403.17673), section 4: the pair and the
            event.
Checked     tests/accounting/test_shuffling.py.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcurator.accounting.bracket import Bracket, question
from dpcurator.numbers import positive, whole
from dpcurator.numbers.arb import Ball, ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy.loss import Loss

if TYPE_CHECKING:
    from dpcurator.numbers.rational import Spelled

_BITS = 256
_FIGURES = 10**12
_POINTS = 400


def shuffled_bracket(
    *,
    noise_multiplier: Spelled,
    batches: int,
    epochs: int = 1,
    delta: Spelled | None = None,
    epsilon: Spelled | None = None,
) -> Bracket:
    """Certified bounds on the privacy of training on shuffled batches, from above and from below.

    Each pass cuts a random order of the rows into batches and shows the sum of each batch's clipped gradients with
    Gaussian noise.

    Promise: the upper end is that of one Gaussian release a pass; no amplification by the order is counted, as none is
    proved. The lower end is attained by some gradients, so no accounting that is right can be below it.

    Parameters:
        noise_multiplier: number > 0, the standard deviation of the noise in units of the clipping norm.
        batches: int >= 1, in a pass.
        epochs: int >= 1, passes. The lower end is that of one.
        delta: number in [0, 1), to bound epsilon; or
        epsilon: number >= 0, to bound delta.

    Returns a Bracket. Raises Refusal if a parameter is out of its range, or not just one of delta and epsilon is given.

    >>> import dpcurator as dp
    >>> found = dp.shuffled_bracket(noise_multiplier="0.8", batches=1000, delta="1e-6")
    >>> f"{float(found.lower):.2f} {float(found.upper):.2f}"
    '6.04 6.31'
    >>> dp.dpsgd(noise_multiplier="0.8", rate="0.001", steps=1000).estimate(delta="1e-6") < 0.5  # on Poisson samples
    True

    Source: Chua et al. 2024 (the lower end).
    """
    sigma, count = positive(noise_multiplier, name="noise_multiplier"), whole(batches, name="batches", least=1)
    passes = whole(epochs, name="epochs", least=1)
    quantity, at = question(delta, epsilon)
    run = Loss("gaussian", {"variance": sigma**2 / passes, "shift": Fraction(1)})  # what so many of them are
    upper = run.epsilon(at) if quantity == "epsilon" else run.delta(at).hi
    lower = max(_bound(sigma, count, quantity, at, C) for C in _events(sigma, count, quantity, at))
    return Bracket(quantity, at, min(lower, upper), upper, "one release a pass")


def _bound(sigma: Fraction, batches: int, quantity: str, at: Fraction, C: Fraction) -> Fraction:
    """The lower bound that the event of a sum of at least C gives, rounded down."""
    with precision(_BITS):

        def below(x: Fraction) -> Ball:
            """ln Phi(x/s)."""
            return ((-ball(x / sigma) / ball(2).sqrt()).erfc() / 2).log()

        others = (batches - 1) * below(C)
        p, q = -(below(C - 2) + others).expm1(), -(below(C - 1) + others).expm1()
        found = p - ball(at).exp() * q if quantity == "delta" else ((p - ball(at)) / q)
        if not found > (0 if quantity == "delta" else 1):
            return Fraction(0)
        least = bracket(found if quantity == "delta" else found.log()).lo
    return Fraction(math.floor(least * _FIGURES**2), _FIGURES**2)


def _events(sigma: Fraction, batches: int, quantity: str, at: Fraction) -> list[Fraction]:
    """Some C of which the best is nearly the best of all: in doubles, so they promise nothing."""
    s, other = min(max(float(sigma), 1e-6), 1e6), float(at)

    def worth(C: float) -> float:
        logs = [math.log(max(math.erfc(-(C - shift) / s / math.sqrt(2)) / 2, 1e-320)) for shift in (0, 1, 2)]
        p, q = (-math.expm1(one + (batches - 1) * logs[0]) for one in (logs[2], logs[1]))
        if quantity == "delta":
            return p - math.exp(min(other, 700.0)) * q
        return (p - other) / q if q > 0 else 0.0

    grid = [2 + s * (40 * i / _POINTS - 20) for i in range(_POINTS + 1)]
    return [Fraction(round(C * 2**30), 2**30) for C in sorted(grid, key=worth)[-3:]]
