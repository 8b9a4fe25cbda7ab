"""Advanced composition, with its logarithm: a sum of mean losses and a deviation that grows like a root.

Definition  eps = sum of m_i + sqrt(2 ln(1/delta) sum of v_i), over all releases i, where
                m_i is the mean loss (the divergence of Kullback and Leibler), and
                v_i is e**2 for a loss in [-e, e] (pure), e**2/4 for one in an interval of length e (bounded range),
                and mu**2 for continuous Gaussian noise.
            For k that are e-DP: k e (exp(e)-1)/(exp(e)+1) + e sqrt(2 k ln(1/delta)), as m = e tanh(e/2).
Promise     (eps, delta) for all together, rounded up to 12 figures; mechanisms may be adaptively
            chosen. It is known for its short form; `pure.optimal_epsilon` and the Renyi bound are mostly smaller.
Proof       Given the past, a loss has mean at most m_i, as that is largest for the dominating pair, and
            E exp(t (L - E L)) <= exp(t**2 v_i / 2): Hoeffding's lemma for an interval, and equality for the Gaussian.
            The product over i is a supermartingale, so P(sum of L > sum of m + r) <= exp(-r**2 / (2 sum of v)) (Azuma);
            that is delta at the r above. Beyond this event no outcome's ratio passes exp(eps).
Source      Dwork, Rothblum, Vadhan, FOCS 2010, theorem III.3; Dwork, Roth 2014, theorem 3.20; the mean e tanh(e/2):
            Kairouz, Oh, Viswanath 2015; bounded range: Durfee, Rogers 2019; Dong, Durfee, Rogers 2020.
Checked     tests/accounting/test_closed.py, tests/cases/test_losses.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from dpcurator.accounting.convert import alike, plain, pure_epsilon_of
from dpcurator.accounting.rounding import ball_up
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy.families import FAMILIES
from dpcurator.privacy.loss import Loss


def advanced_epsilon(parts: Iterable[tuple[Loss, int]], delta: Fraction) -> Fraction | None:
    """An epsilon at `delta` in (0, 1); None where some loss has neither a range nor is Gaussian."""
    found = moments(parts)
    if found is None:
        return None
    mean, spread = found
    with precision(160):
        return ball_up(ball(mean) + (2 * ball(spread) * -ball(delta).log()).sqrt())


def advanced_delta(parts: Iterable[tuple[Loss, int]], eps: Fraction) -> Fraction | None:
    """The same the other way round: exp(-(eps-m)**2 / (2 v)) above the sum m of means."""
    found = moments(parts)
    if found is None or eps <= found[0] or not found[1]:
        return None
    mean, spread = found
    with precision(160 + int((eps - mean) ** 2 / spread).bit_length()):
        return bracket((-ball((eps - mean) ** 2 / (2 * spread))).exp()).hi


def moments(parts: Iterable[tuple[Loss, int]]) -> tuple[Fraction, Fraction] | None:
    """The sums of m_i, rounded up, and of v_i; None where some loss has neither a range nor is Gaussian."""
    mean = spread = Fraction(0)
    for loss, count in ((plain(loss), count) for loss, count in parts):
        variance = _variance(loss)
        if variance is None:
            return None
        mean += count * (loss.kl().hi if variance else Fraction(0))
        spread += count * variance
    return mean, spread


def _variance(loss: Loss) -> Fraction | None:
    known = FAMILIES[loss.family]
    if known.interval is not None:
        return known.interval(loss.given) ** 2 / 4
    if known.mu_squared is not None:
        return known.mu_squared(loss.given)
    epsilon = pure_epsilon_of(loss) if alike(loss) else None
    return None if epsilon is None else epsilon**2
