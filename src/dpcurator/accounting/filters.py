"""Privacy filters: budgets for adaptively chosen releases.

Definition  A filter has limits and running sums. `spend` adds an amount if every sum stays within its limit, and else
            raises OverBudget and changes nothing.
              ApproximateFilter   sum of epsilon <= epsilon, and sum of delta <= delta
              ZcdpFilter          sum of rho <= rho, and sum of delta <= delta
              RenyiFilter         sum of the divergences of one order alpha <= epsilon
              GaussianFilter      sum of mu**2 <= mu**2, of continuous Gaussian noise alone
Promise     All that is released, each after its accepted `spend`, is together (epsilon, delta)-DP; rho-zCDP with
            probability at least 1 - delta; of Renyi divergence epsilon at alpha; mu-GDP. Analysts may choose every
            amount, and when to stop, by what they have seen. Sums are exact: 10**5 times 1/10**5 is 1. A refusal
            follows from the amounts alone. Spend first, then draw noise; no amount is given back. Each filter has its
            currency: an amount in another one is refused, not converted. So is a loss that is for other neighbours than
            one before, as those on Poisson samples and on samples of a fixed size.
Proof       Write L for the sum of the losses so far. Pure: L <= sum of epsilon <= the limit, surely. A delta is the
            probability of an infinite loss (families/approximate.py), and probabilities chosen on the way whose sum
            surely is at most delta are together at most that; the rest has L <= epsilon. (With W in [1-delta, 1] the
            probability of none, and X in [0, 1] what is gained of the rest, 1 - E W (1-X) <= delta + (1-delta) E X, as
            for `epsilon`.) Renyi: exp((a-1)(L - sum of D_a)) has, given the past, a mean of at most 1 at each step, so
            E exp((a-1) L) <= exp((a-1) limit). rho: this at every a, with D_a <= a rho. mu: given the past each
            increment of L is Gaussian of mean m**2/2 and variance m**2; topped up with noise of what is left, the
            variances sum to mu**2 whatever was chosen, so L is Gaussian of mean mu**2/2 and variance mu**2 (backwards,
            E exp(isL) is the same constant at each step).
Not valid   for amounts chosen on the way: the least of several bounds, Kairouz-Oh-Viswanath, loss distributions, the
            trade-off functions of other distributions. A batch of losses that is fixed beforehand may be priced so and
            then spent as one amount: `spend(composition, delta=...)`.
Limits      In memory (budget.py): gone with the process. What must last is the ledger's; these are its decisions.
Source      pure, approximate: Rogers, Roth, Ullman, Vadhan, NeurIPS 2016 (arXiv 1605.08294); rho: Whitehouse, Ramdas,
            Rogers, Wu, ICML 2023 (arXiv 2203.05481); Renyi: Feldman, Zrnic, NeurIPS 2021 (arXiv 2008.11193); mu:
            Koskela, Tobaben, Honkela, ICLR 2023 (arXiv 2209.15596), Smith, Thakurta 2022 (arXiv 2210.17520); mechanisms
            that run at the same time: Haney et al. 2023 (arXiv 2309.05901).
Checked     tests/accounting/test_filters.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from dpcurator.accounting.budget import Meter
from dpcurator.accounting.closed.bounds import split
from dpcurator.accounting.composition import Composition, Releases, compose
from dpcurator.accounting.convert import pure_epsilon_of, renyi_of, rho_of
from dpcurator.errors import Refusal
from dpcurator.numbers.rational import at_least_0, from_0_below_1
from dpcurator.privacy import zcdp
from dpcurator.privacy.families import FAMILIES
from dpcurator.privacy.families.family import order
from dpcurator.privacy.loss import Loss
from dpcurator.privacy.sampled import neighbours_of

if TYPE_CHECKING:
    from dpcurator.numbers.rational import Spelled

_ZERO = Fraction(0)


class Filter:
    """What every filter has: a meter of its own, and what it says of it."""

    __slots__ = ("_meter",)

    _meter: Meter

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._meter!r}>"

    @property
    def spent(self) -> dict[str, Fraction]:
        """Exact sums by currency: epsilon, rho, delta, divergence or mu_squared."""
        return self._meter.spent

    @property
    def remaining(self) -> dict[str, Fraction]:
        """What is left by currency, exactly."""
        return self._meter.remaining


class ApproximateFilter(Filter):
    """A privacy filter in (epsilon, delta): a budget for adaptively chosen releases.

    `spend` adds an amount if the sums of epsilon and of delta stay within their limits, and else raises OverBudget and
    changes nothing.

    Promise: all releases together, each made after its accepted `spend`, are (epsilon, delta)-DP, also where each
    amount, and when to stop, was chosen by what was seen before. Sums are exact; no amount is given back.

    Parameters:
        epsilon: number >= 0, the limit of the sum.
        delta: number in [0, 1), the limit of the sum of deltas.

    Raises Refusal if a limit is out of its range. It is in memory only: a budget that must last is the ledger's.

    >>> import dpcurator as dp
    >>> budget = dp.ApproximateFilter(epsilon=1, delta="1e-6")
    >>> budget.spend(epsilon="0.4")
    >>> budget.spend(dp.Laplace(sensitivity=1, epsilon="0.1"))
    >>> budget.remaining
    {'epsilon': Fraction(1, 2), 'delta': Fraction(1, 1000000)}

    Source: Rogers, Roth, Ullman, Vadhan 2016.
    """

    __slots__ = ()

    def __init__(self, *, epsilon: Spelled, delta: Spelled = 0) -> None:
        limit = at_least_0(epsilon, name="epsilon")
        self._meter = Meter({"epsilon": limit, "delta": from_0_below_1(delta)})

    def spend(
        self, loss: Releases | None = None, *, epsilon: Spelled | None = None, delta: Spelled | None = None
    ) -> None:
        """Spend either amounts, epsilon and delta (0 unless given), or a loss, a mechanism or a composition.

        A loss that is pure or approximate costs its own epsilon and delta. With `delta` it costs that and the epsilon
        it has at that delta; so must Gaussian noise. Raises OverBudget if a sum passes its limit, and Refusal if the
        loss has no epsilon.
        """
        if loss is None:
            eps, used = (
                at_least_0(_given(epsilon, "epsilon"), name="epsilon"),
                _ZERO if delta is None else from_0_below_1(delta),
            )
        elif delta is not None:
            batch, used = _one_way(loss, epsilon), from_0_below_1(delta)
            eps = batch.parts[0][0].epsilon(used) if batch.size == 1 else batch.epsilon(delta=used)
        else:
            used, pure, _ = _price(loss, epsilon)
            if pure is None:
                raise Refusal("This loss has no pure epsilon.", cure="Say at which delta: spend(loss, delta=1e-9).")
            eps = pure
        self._meter.add({"epsilon": eps, "delta": used}, _towards(loss))


class ZcdpFilter(Filter):
    """A privacy filter in rho (zero-concentrated differential privacy): a budget for adaptively chosen releases.

    `spend` adds an amount if the sums of rho and of delta stay within their limits, and else raises OverBudget and
    changes nothing.

    Promise: with probability at least 1 - delta, all releases together, each made after its accepted `spend`, are
    rho-zCDP, also where each amount was chosen by what was seen before. Sums are exact; no amount is given back.

    Parameters:
        rho: number >= 0, the limit of the sum.
        delta: number in [0, 1), the limit of the deltas of those parts that have no rho.

    Raises Refusal if a limit is out of its range. It is in memory only: a budget that must last is the ledger's.

    >>> import dpcurator as dp
    >>> budget = dp.ZcdpFilter(rho="0.5")
    >>> budget.spend(dp.Gaussian(sensitivity=1, rho="0.1"))
    >>> budget.remaining["rho"], float(budget.epsilon(delta="1e-6")) < 5.3  # what the whole limit converts to
    (Fraction(2, 5), True)

    Source: Whitehouse, Ramdas, Rogers, Wu 2023; Bun, Steinke 2016 (zCDP).
    """

    __slots__ = ("_rho",)

    def __init__(self, *, rho: Spelled, delta: Spelled = 0) -> None:
        self._rho = at_least_0(rho, name="rho")
        self._meter = Meter({"rho": self._rho, "delta": from_0_below_1(delta)})

    def spend(self, loss: Releases | None = None, *, rho: Spelled | None = None, delta: Spelled | None = None) -> None:
        """Spend either amounts, rho and delta (0 unless given), or a loss, a mechanism or a composition.

        A pure loss costs eps tanh(eps/2), rounded up in its 29th figure (the ledger charges eps**2/2, which is more).
        Raises OverBudget if a sum passes its limit, and Refusal if the loss has no rho.
        """
        if loss is None:
            amount, used = at_least_0(_given(rho, "rho"), name="rho"), _ZERO if delta is None else from_0_below_1(delta)
        else:
            used, _, known = _price(loss, rho, delta)
            amount = _found(known, "rho")
        self._meter.add({"rho": amount, "delta": used}, _towards(loss))

    def epsilon(self, *, delta: Spelled) -> Fraction:
        """The epsilon of all that may ever be spent, at `delta`: what the limits promise. delta must pass that of the
        filter; the parts without a rho take theirs of it, and the rho has the rest.
        Raises Refusal for another delta."""
        whole, apart = from_0_below_1(delta), self._meter.remaining["delta"] + self._meter.spent["delta"]
        if whole <= apart:
            raise Refusal("delta must be above the filter's own.", cure="Ask at a larger delta.")
        return zcdp.epsilon_of(self._rho, (whole - apart) / (1 - apart))


class RenyiFilter(Filter):
    """A privacy filter in Renyi divergence of one order: a budget for adaptively chosen releases.

    `spend` adds the divergence of order alpha if the sum stays within the limit, and else raises OverBudget and changes
    nothing.

    Promise: all releases together, each made after its accepted `spend`, have a Renyi divergence of order alpha of at
    most epsilon between neighbours, also where each amount was chosen by what was seen before. Sums are exact.

    Parameters:
        alpha: number > 1, the order.
        epsilon: number >= 0, the limit of the sum, in nats.

    Raises Refusal if a parameter is out of its range. It is in memory only: a budget that must last is the ledger's.

    >>> import dpcurator as dp
    >>> budget = dp.RenyiFilter(alpha=8, epsilon=2)
    >>> budget.spend(dp.Loss("gaussian", sigma=2))  # alpha / (2 sigma**2) = 1
    >>> budget.remaining
    {'divergence': Fraction(1, 1)}

    Source: Feldman, Zrnic 2021; Mironov 2017 (Renyi differential privacy).
    """

    __slots__ = ("alpha",)

    def __init__(self, *, alpha: Spelled, epsilon: Spelled) -> None:
        self.alpha = order(alpha)
        self._meter = Meter({"divergence": at_least_0(epsilon, name="epsilon")})

    def spend(self, loss: Releases | None = None, *, epsilon: Spelled | None = None) -> None:
        """Spend either an amount, the divergence at alpha, or a loss, a mechanism or a composition.

        Raises OverBudget if the sum passes the limit, and Refusal if no divergence of the loss is known.
        """
        if loss is None:
            amount = at_least_0(_given(epsilon, "epsilon"), name="epsilon")
        else:
            parts = _one_way(loss, epsilon).parts
            amount = _found(_sum((_divergence(one, self.alpha), count) for one, count in parts), "Renyi divergence")
        self._meter.add({"divergence": amount}, _towards(loss))


class GaussianFilter(Filter):
    """A privacy filter in mu (Gaussian differential privacy): a budget for adaptively chosen releases.

    `spend` adds mu**2 if the sum stays within that of the limit, and else raises OverBudget and changes nothing.

    Promise: all releases together, each made after its accepted `spend`, are mu-GDP: no easier to tell apart than
    N(0, 1) from N(mu, 1), also where each amount was chosen by what was seen before. Sums of mu**2 are exact. For
    continuous Gaussian noise only: the discrete Gaussian is not mu-GDP, and epsilon-DP is not epsilon-GDP.

    Parameters:
        mu: number >= 0, the limit: sensitivity / standard deviation of one release that would use it up.

    Raises Refusal if mu is out of its range. It is in memory only: a budget that must last is the ledger's.

    >>> import dpcurator as dp
    >>> budget = dp.GaussianFilter(mu=1)
    >>> budget.spend(mu="0.6")
    >>> budget.remaining  # 1 - 0.36
    {'mu_squared': Fraction(16, 25)}

    Source: Koskela, Tobaben, Honkela 2023; Smith, Thakurta 2022; Dong, Roth, Su 2022 (GDP).
    """

    __slots__ = ()

    def __init__(self, *, mu: Spelled) -> None:
        self._meter = Meter({"mu_squared": at_least_0(mu, name="mu") ** 2})

    def spend(self, loss: Releases | None = None, *, mu: Spelled | None = None) -> None:
        """Spend either an amount, mu, or a loss of continuous Gaussian noise, or a composition of such.

        Raises OverBudget if the sum passes the limit, and Refusal if the loss has no mu.
        """
        if loss is None:
            amount = at_least_0(_given(mu, "mu"), name="mu") ** 2
        else:
            amount = Fraction(0)
            for one, count in _one_way(loss, mu).parts:
                mu_squared = FAMILIES[one.family].mu_squared
                if mu_squared is None:
                    raise Refusal(
                        f"A loss of family {one.family} has no Gaussian-DP (mu) guarantee.",
                        cure="Spend it from dp.ApproximateFilter, as in spend(loss, delta=1e-9); or from dp.ZcdpFilter "
                        "where it has a rho.",
                    )
                amount += count * mu_squared(one.given)
        self._meter.add({"mu_squared": amount})


def _given(amount: object, name: str) -> object:
    if amount is None:
        raise Refusal(f"Nothing to spend: give a loss, or {name}.", cure=f"Write spend({name}=0.1), or spend(loss).")
    return amount


def _one_way(loss: Releases, *amounts: object) -> Composition:
    if any(amount is not None for amount in amounts):
        raise Refusal("Give a loss or amounts, and not both.", cure="Write spend(loss).")
    return _alone(loss) if isinstance(loss, Loss) else compose(loss)


@lru_cache(maxsize=1024)
def _alone(loss: Loss) -> Composition:
    return compose(loss)


def _towards(loss: Releases | None) -> str | None:
    """The neighbours that a loss is for, where it says."""
    if loss is None:
        return None
    return _alone_towards(loss) if isinstance(loss, Loss) else neighbours_of(one for one, _ in compose(loss).parts)


@lru_cache(maxsize=1024)
def _alone_towards(loss: Loss) -> str | None:
    return neighbours_of([loss])


def _price(loss: Releases, *amounts: object) -> tuple[Fraction, Fraction | None, Fraction | None]:
    """The probability of what has no other measure; the pure epsilon and the least rho of the rest, if known."""
    if isinstance(loss, Loss) and all(amount is None for amount in amounts):
        return _single(loss)
    return _of_parts(_one_way(loss, *amounts))


@lru_cache(maxsize=1024)
def _single(loss: Loss) -> tuple[Fraction, Fraction | None, Fraction | None]:
    return _of_parts(_alone(loss))


def _of_parts(together: Composition) -> tuple[Fraction, Fraction | None, Fraction | None]:
    used, rest = split(together.parts)
    pure, rho = (_sum((measure(one), count) for one, count in rest) for measure in (pure_epsilon_of, _rho))
    return used, pure, rho


@lru_cache(maxsize=1024)
def _rho(loss: Loss) -> Fraction | None:
    return rho_of(loss)


@lru_cache(maxsize=1024)
def _divergence(loss: Loss, alpha: Fraction) -> Fraction | None:
    return renyi_of(loss, alpha)


def _sum(found: Iterable[tuple[Fraction | None, int]]) -> Fraction | None:
    total = Fraction(0)
    for amount, count in found:
        if amount is None:
            return None
        total += count * amount
    return total


def _found(amount: Fraction | None, what: str) -> Fraction:
    if amount is None:
        raise Refusal(f"This loss has no {what} here.", cure="Spend it from a filter of epsilon and delta.")
    return amount
