"""Losses of one's own, checked and stored as data: from two probability mass functions, a loss distribution, a privacy
profile, a Renyi curve or a mixture of Gaussians. What each promises is argued in its file of privacy/families.

Checked in tests/privacy/test_own.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any, Literal

from dpcurator.errors import Refusal, closest
from dpcurator.numbers import positive, rational
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.numbers.rational import at_least_0, from_0_to_1
from dpcurator.privacy.families.finite import few_enough, numbered
from dpcurator.privacy.families.loss_distribution import other_mass
from dpcurator.privacy.loss import Loss

if TYPE_CHECKING:
    from dpcurator.numbers.rational import Spelled

_ROUND_OFF = Fraction(1, 10**6)  # by which sums of doubles may pass 1
_UNIT = 2**100  # parts of 1 to which masses of the other direction are rounded down
Pmf = Mapping[Any, "Spelled"] | Iterable["Spelled"]
Pld = tuple[Iterable["Spelled"], Iterable["Spelled"]]
Rounding = Literal["pessimistic", "nearest", "optimistic"]


def two_pmfs(p: Pmf, q: Pmf, *, missing: Literal["refused", "infinite"] = "refused") -> Loss:
    """The privacy loss of one's own mechanism, from two probability mass functions: of its output on two neighbours.

    P is the distribution of the output on one table, Q that on its neighbour; the loss of an outcome is ln p/q.
    Neighbours in the other order have the pair exchanged.

    Promise: delta, divergences and everything composed of it are those of exactly these numbers, rounded outward. It is
    the mechanism's loss if no pair of neighbours is easier to tell apart than P from Q, and Q from P: that is for
    whoever gives them to know.

    Parameters:
        p, q: the probabilities of the same outcomes, as two lists or two mappings of outcomes; each adds up to 1.
        missing: what is made of sums below 1: "refused", or "infinite": what is left is of outcomes that the other
            never has, which is right for numbers that were rounded down.

    Returns a dp.Loss. Raises Refusal if these are no probability mass functions.

    >>> import dpcurator as dp
    >>> loss = dp.two_pmfs({"yes": "3/4", "no": "1/4"}, {"yes": "1/4", "no": "3/4"})
    >>> float(loss.delta("0.5").hi) < 0.34, loss.renyi(2)
    (True, Enclosure(0.8472978604))
    >>> dp.compose((loss, 10)).epsilon(delta="1e-3") < 11
    True

    Source: Zhu, Dong, Wang 2022 (dominating pairs).
    """
    if missing not in ("refused", "infinite"):
        raise Refusal(f"missing is {str(missing)[:40]!r}.", cure='Write missing="refused" or missing="infinite".')
    first, second = _same_outcomes(p, q)
    for name, chances in (("p", first), ("q", second)):
        total = sum(chances)
        if missing == "refused" and total != 1:
            raise Refusal(
                f"The probabilities {name} add up to {float(total):.17g}, not to 1.",
                cure='Give them exactly, as "1/3"; or round each down and write missing="infinite".',
            )
    return Loss("two_pmfs", numbered("p", first) | numbered("q", second))


def _same_outcomes(p: Any, q: Any) -> tuple[list[Fraction], list[Fraction]]:
    if isinstance(p, Mapping) != isinstance(q, Mapping):
        raise Refusal("One of p and q is a mapping of outcomes and the other is not.", cure="Give two of a kind.")
    if isinstance(p, Mapping):
        outcomes = dict.fromkeys([*p, *q])
        return ([rational(side.get(one, 0), name=f"{name}[{one!r}]"[:60]) for one in outcomes]
                for name, side in (("p", p), ("q", q)))  # type: ignore[return-value]  # fmt: skip
    return _listed(p, "p"), _listed(q, "q")


def _listed(values: Any, name: str) -> list[Fraction]:
    try:
        found = list(values)
    except TypeError:
        raise Refusal(f"{name} is no list of numbers.", cure=f"Write {name}=[0.5, 0.25, 0.25].") from None
    if not found:
        raise Refusal(f"{name} is empty.", cure=f"Write {name}=[0.5, 0.25, 0.25].")
    few_enough(len(found))
    return [rational(value, name=f"{name}[{i}]") for i, value in enumerate(found)]


def loss_distribution(
    losses: Iterable[Spelled],
    masses: Iterable[Spelled],
    *,
    rounding: Rounding,
    width: Spelled | None = None,
    backward: Pld | Literal["same", "exchanged"],
) -> Loss:
    """A privacy loss distribution (PLD) of one's own, as a loss: a grid of losses and the mass of each under P.

    Mass that is missing has an infinite loss. delta(eps) is the sum of mass * max(1 - exp(eps - loss), 0).

    Promise: with rounding told truly, it dominates the release, so every epsilon and delta that is made of it is an
    upper bound. It attains nothing, so lower bounds are 0 for it alone.

    Parameters:
        losses: numbers, rising: values of ln p/q.
        masses: the probability of each under P; together at most 1.
        rounding: how true losses came to be these. "pessimistic": none was moved down. "nearest" or "optimistic": none
            was moved by more than `width`, or down by more than it; each is moved up by that.
        width: number >= 0, for the two latter.
        backward: (losses, masses) of Q against P, in the same rounding; "same" where the pair is symmetric, as for
            noise; or "exchanged": that of this same pair, in which what the mean of exp(-loss) lacks of 1 is infinite.

    Returns a dp.Loss. Raises Refusal if a sum passes 1, or these are no losses of a pair: the mean of exp(-loss) is at
    most 1, or, by round-off, up to a millionth more, and then losses are moved up by as much.

    >>> import dpcurator as dp
    >>> coin = dp.loss_distribution([-1, 1], ["0.26", "0.74"], rounding="pessimistic", backward="same")
    >>> coin.delta("0.5").lo < coin.delta(0).hi, float(coin.pure_epsilon())
    (True, 1.0)
    >>> dp.compose((coin, 100)).epsilon(delta="1e-6") < 84
    True

    Source: Sommer, Meiser, Mohammadi 2019; Koskela, Jälkö, Honkela 2020.
    """
    ways = ("pessimistic", "nearest", "optimistic")
    if rounding not in ways:
        near = closest(str(rounding), list(ways))
        cure = f'Write rounding="{near[0]}".' if near else f"It is one of {', '.join(ways)}."
        raise Refusal(f"rounding is {str(rounding)[:40]!r}.", cure=cure)
    if (width is None) != (rounding == "pessimistic"):
        raise Refusal(
            "How far losses were rounded is told by width, and only where they were rounded down.",
            cure='Write rounding="nearest", width=1e-4; or rounding="pessimistic".',
        )
    up = Fraction(0) if width is None else at_least_0(width, name="width")
    forward = _pessimistic(losses, masses, up)
    if backward == "same":
        other = forward
    elif backward == "exchanged":
        other = _exchanged(*forward)
    else:
        try:
            back_losses, back_masses = backward
        except (TypeError, ValueError):
            raise Refusal(
                "backward is no pair of losses and masses.", cure='Write backward="same" if the mechanism is symmetric.'
            ) from None
        if isinstance(backward, str):
            raise Refusal(f"backward is {backward[:40]!r}.", cure='Write backward="same" or backward="exchanged".')
        other = _pessimistic(back_losses, back_masses, up)
    given = numbered("loss", forward[0]) | numbered("mass", forward[1])
    return Loss("loss_distribution", given | numbered("back_loss", other[0]) | numbered("back_mass", other[1]))


def _pessimistic(losses: Any, masses: Any, up: Fraction) -> tuple[list[Fraction], list[Fraction]]:
    """The losses moved up, and what sums of doubles pass 1 by taken care of: masses less, or losses more."""
    xs, chances = _listed(losses, "losses"), _listed(masses, "masses")
    if len(xs) != len(chances) or any(chance < 0 for chance in chances):
        raise Refusal("There is not one mass of at least 0 for each loss.", cure="Give two lists of equal length.")
    xs = [x + up for x in xs]
    over = sum(chances) - 1
    if 0 < over <= _ROUND_OFF:  # taken from the lowest losses, so that no delta above them is less
        for i, chance in enumerate(chances):
            taken = min(chance, over)
            chances[i], over = chance - taken, over - taken
    with precision(192):
        total = bracket(other_mass(xs, chances)).hi if max(map(abs, xs)) <= 10**5 else Fraction(0)
        if 1 < total <= 1 + _ROUND_OFF and any(xs):
            more = Fraction(ceil(bracket(ball(total).log()).hi * _UNIT) + 1, _UNIT)
            xs = [x + more for x in xs]
    return xs, chances


def _exchanged(losses: list[Fraction], masses: list[Fraction]) -> tuple[list[Fraction], list[Fraction]]:
    """Of (Q, P): losses -x, of mass exp(-x) each, rounded down; what is left is infinite."""
    with precision(256):
        found = [
            Fraction(int(bracket((-ball(x)).exp() * ball(mass)).lo * _UNIT), _UNIT)
            for x, mass in zip(losses, masses, strict=True)
        ]
    return [-x for x in reversed(losses)], found[::-1]


def privacy_profile(pairs: Mapping[Spelled, Spelled] | Iterable[tuple[Spelled, Spelled]]) -> Loss:
    """The loss of whatever is (epsilon, delta)-DP for each of several pairs at once: a privacy profile, or a curve.

    Its delta at E = exp(eps) is the greatest convex function that keeps all pairs, for neighbours in either order.

    Promise: the loss dominates every release that keeps all these pairs. One pair is dp.Loss("approximate", ...).

    Parameters:
        pairs: a mapping of epsilons (>= 0) to deltas (in [0, 1)), or a list of such pairs.

    Returns a dp.Loss. Raises Refusal if a number is out of its range, or an epsilon has two deltas.

    >>> import dpcurator as dp
    >>> loss = dp.privacy_profile({1: "0.05", 3: "1e-4", "0.5": "0.12"})
    >>> loss.delta(2).hi < 0.04, loss.delta(3).hi  # between two pairs: the chord
    (True, Fraction(1, 10000))
    >>> dp.compose((loss, 4)).epsilon(delta="1e-2") < 8
    True

    Source: Balle, Barthe, Gaboardi 2018 (privacy profiles); Kairouz, Oh, Viswanath 2015.
    """
    found = _paired(pairs, "epsilon", "delta", "{1: 0.05, 3: 1e-4}")
    given = numbered("epsilon", [one for one, _ in found]) | numbered("delta", [two for _, two in found])
    return Loss("profile", given)


def renyi_curve(divergences: Mapping[Spelled, Spelled] | Iterable[tuple[Spelled, Spelled]]) -> Loss:
    """The loss of a release of which Renyi divergences are known at some orders: a curve of one's own (RDP).

    Between orders (order - 1) * divergence is at most the chord. dp.Loss("zcdp", rho=..., xi=...) is the line xi +
    rho * order.

    Promise: epsilons made of it are upper bounds if the divergences, of both directions, are at most what is given. It
    adds up with other losses at every order, and spends from a dp.RenyiFilter.

    Parameters:
        divergences: a mapping of orders (> 1) to divergences (>= 0, in nats), or a list of such pairs.

    Returns a dp.Loss. Raises Refusal if a number is out of its range, or an order has two divergences.

    >>> import dpcurator as dp
    >>> loss = dp.renyi_curve({2: "0.1", 8: "0.4", 32: "1.7"})
    >>> float(dp.compose((loss, 10)).epsilon(delta="1e-6")) < 7
    True

    Source: Mironov 2017; Canonne, Kamath, Steinke 2020 (the conversion).
    """
    found = _paired(divergences, "order", "divergence", "{2: 0.1, 8: 0.4}")
    given = numbered("order", [one for one, _ in found]) | numbered("divergence", [two for _, two in found])
    return Loss("renyi", given)


def gaussian_mixture(
    shifts: Iterable[Spelled], probabilities: Iterable[Spelled], *, sigma: Spelled
) -> Loss:
    """The loss of Gaussian noise on a query that moves by a random distance: a mixture of Gaussians.

    P is N(S, sigma**2) with S drawn from `shifts` by `probabilities`, Q is N(0, sigma**2).

    Promise: it dominates Gaussian noise on a sum that moves, where rows are added or removed, by a vector whose length
    is at most shifts[i] with probability probabilities[i], drawn independently of all else; in both directions.

    Parameters:
        shifts: numbers >= 0, in the unit of sigma; 0 where the rows are not in the sample.
        probabilities: numbers >= 0, one for each shift, which add up to 1.
        sigma: number > 0, the standard deviation of the noise.

    Returns a dp.Loss. Raises Refusal if a number is out of its range, or the probabilities do not add up to 1.

    >>> import dpcurator as dp
    >>> loss = dp.gaussian_mixture([0, 1, 2], ["0.81", "0.18", "0.01"], sigma=2)  # two rows, each sampled with 1/10
    >>> loss == dp.Loss("gaussian", sigma=2).sampled(poisson="0.1").for_group(2)
    True

    Source: Choquette-Choo, Ganesh, Steinke, Thakurta 2023 (mixtures of Gaussians).
    """
    lengths, chances = _listed(shifts, "shifts"), _listed(probabilities, "probabilities")
    if len(lengths) != len(chances):
        what = f"There are {len(lengths)} shifts and {len(chances)} probabilities."
        raise Refusal(what, cure="Give one for each.")
    at: dict[Fraction, Fraction] = {}
    for length, chance in zip(lengths, chances, strict=True):
        at[length] = at.get(length, Fraction(0)) + from_0_to_1(chance, name="probabilities")
    given = numbered("shift", sorted(at)) | numbered("chance", [at[length] for length in sorted(at)])
    still = {"other_shift0": Fraction(0), "other_chance0": Fraction(1)}
    return Loss("gaussian_mixture", {"variance": positive(sigma, name="sigma") ** 2, **given, **still})


def _paired(pairs: Any, first: str, second: str, like: str) -> list[tuple[Fraction, Fraction]]:
    try:
        listed = [(one, two) for one, two in (pairs.items() if isinstance(pairs, Mapping) else pairs)]
    except (TypeError, ValueError):
        listed = []
    if not listed:
        raise Refusal(f"There is no {first} with its {second}.", cure=f"Write {like}.")
    found = sorted((rational(one, name=first), rational(two, name=second)) for one, two in listed)
    if any(one[0] == other[0] for one, other in pairwise(found)):
        raise Refusal(f"One {first} has two {second}s.", cure="Give the smaller one.")
    return found
