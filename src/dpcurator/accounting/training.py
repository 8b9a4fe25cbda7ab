"""The privacy loss of training a model by DP-SGD, in the words of those who train: a composition, as data.

Definition  In a step each row's gradient is clipped to norm C, those of a sample of the rows are added up, and Gaussian
            noise of standard deviation noise_multiplier * C is added to the sum. `sampling` says which rows a step has:
            "poisson": each with probability batch/rows, anew in each step; neighbours add or remove a row, or replace
            one. Where a batch has a largest size B, of more rows than that B are kept, any set alike.
            "fixed_size": `batch` of the `rows`, anew in each step, any such set alike; neighbours replace a row.
            "shuffled": the rows, in an order drawn anew for each pass or fixed, are cut into batches, so that each row
            is in one step of a pass; neighbours have a row, or zero in the place of its gradient.
            "allocated": each row is put in one of the ceil(rows/batch) steps of a pass, drawn by itself, evenly and
            anew for each pass (balls and bins); neighbours add or remove a row.
            "all": every row in each step; neighbours add or remove a row.
Promise     The composition dominates all steps together, each of which may depend on what earlier steps gave; what
            `epsilon` and `delta` then say is certified, as of any composition. Steps are epochs * rows / batch, rounded
            up. Whatever is done with the noisy sums (a division, a learning rate, momentum) is free.
Proof       "poisson", "fixed_size": families/poisson.py and fixed_size.py, with a shift of 1 in units of C, and of 2
            where a row is replaced, since -g may stand for g; on Poisson samples: gaussian_mixture.py. Largest batch:
            the number N of other rows taken has one law on both tables. Given N < B nothing is dropped; given N >= B a
            set S of B of them stays, or one of S makes place for the row, with chance q B/(N+1): a shift of at most 2
            at a rate of at most q. So a step is that of no largest batch but with the chance t of N >= B, when anything
            may be lost; or, where that is no rare event, of shift 2 throughout. t is at most exp(-n KL(B/n, q)) for n
            others (Chernoff, Hoeffding 1963): all of the rows, where one more is added. A group of k fills a batch
            sooner than that, so of one nothing is told. Compositions: composition.py. "allocated": allocation.py.
            "shuffled": given the order and all else, a row is in one step of a pass, so the other steps are the same on
            both neighbours and what they give is post-processing of the past; a pass is one Gaussian release of shift
            1. No secrecy of the order is counted, so the same holds of batches that never change. "all": Gaussian
            releases of shift 1.
Source      Abadi et al. 2016 (DP-SGD); Chua et al. 2024 (arXiv 2411.04205: truncated Poisson samples); Chua et al. 2024
            (arXiv 2403.17673: shuffled batches are not Poisson samples).
Checked     tests/accounting/test_training.py.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from dpcurator.accounting.composition import Composition
from dpcurator.errors import Refusal, closest
from dpcurator.numbers import positive, rational, whole
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.privacy.loss import Loss

if TYPE_CHECKING:
    from dpcurator.numbers.rational import Spelled

_WRITE = "Write dpsgd(noise_multiplier=1.1, batch=256, rows=60_000, epochs=60)."


def dpsgd(
    *,
    noise_multiplier: Spelled,
    batch: int | None = None,
    rows: int | None = None,
    rate: Spelled | None = None,
    epochs: Spelled | None = None,
    steps: int | None = None,
    sampling: str = "poisson",
    neighbours: str | None = None,
    largest_batch: int | None = None,
) -> Composition:
    """The privacy loss of a training run with DP-SGD: a composition of Gaussian releases on samples of the rows.

    In a step the gradients of a batch are clipped to norm C and added up, with Gaussian noise of standard deviation
    noise_multiplier * C. Steps are epochs * rows / batch, rounded up.

    Promise: the composition dominates the whole run, also where a step depends on earlier ones. Its `epsilon` and
    `delta` are certified bounds.

    Parameters:
        noise_multiplier: number > 0, the standard deviation of the noise of a sum, in units of the clipping norm.
        batch, rows: int >= 1, the (mean) size of a batch and the number of rows; or
        rate: number in (0, 1], batch / rows.
        epochs: number > 0, passes over the rows; or
        steps: int >= 1.
        sampling: how a batch is drawn. "poisson": each row by itself with probability batch/rows, for neighbours that
            add or remove a row. "fixed_size": `batch` of the rows, any set alike, for neighbours that replace a row.
            "shuffled": the shuffled (or fixed) order cut into batches, for a row against a gradient of zero; no
            amplification is counted. "allocated": each row in one step of a pass, drawn by itself (balls and bins), for
            neighbours that add or remove a row. "all": no sampling.
        neighbours: "add-remove" or "replace-one", of Poisson samples, which have both; other ways have the one above.
        largest_batch: int >= 1, of Poisson samples: a batch of more rows is cut down to this many, drawn among them.
            Of a group of rows nothing is known then: for_group refuses.

    Returns a dp.Composition. Raises Refusal if a parameter is missing, out of its range, or told twice.

    >>> import dpcurator as dp
    >>> run = dp.dpsgd(noise_multiplier=4, batch=600, rows=60_000, steps=100)
    >>> run.size, float(run.epsilon(delta="1e-5")) < 0.08
    (100, True)
    >>> user = run.for_group(3)  # all of a person's three rows

    Source: Abadi et al. 2016.
    """
    ways = {"poisson": _poisson, "fixed_size": _fixed_size, "shuffled": _shuffled, "allocated": _allocated, "all": _all}
    if sampling not in ways:
        near = closest(str(sampling), list(ways))
        cure = f'Write sampling="{near[0]}".' if near else f"Known are {', '.join(ways)}."
        raise Refusal(f"sampling is {str(sampling)[:40]!r}, which is no way to draw a batch.", cure=cure)
    share = _rate(batch, rows, rate)
    if sampling == "fixed_size" and rate is not None:
        raise Refusal("A batch of a fixed size is a number of rows.", cure="Give batch= and rows=, not rate=.")
    multiplier = positive(noise_multiplier, name="noise_multiplier")
    loss, count = ways[sampling](multiplier, share, _passes(epochs, steps, share))
    if neighbours == "replace-one" and sampling == "poisson":
        if largest_batch is not None:
            raise Refusal("Of a row replaced, nothing is known with a largest batch.", cure="Leave neighbours out.")
        loss = _gaussian(multiplier, 1).sampled(poisson=share, neighbours=neighbours)
    elif neighbours not in (None, _NEIGHBOURS[sampling]):
        known = _NEIGHBOURS[sampling]
        raise Refusal(
            f'sampling="{sampling}" is known here for {known or "a row against a gradient of zero"}.',
            cure=f'Write neighbours="{known}".' if known else "Leave neighbours out.",
        )
    if largest_batch is None:
        return Composition(((loss, count),))
    if sampling != "poisson" or rows is None:
        raise Refusal("A largest batch is of Poisson samples of so many rows.", cure="Give batch= and rows=.")
    return _cut(multiplier, share, whole(rows, name="rows"), whole(largest_batch, name="largest_batch", least=1), count)


_NEIGHBOURS = {"poisson": "add-remove", "fixed_size": "replace-one", "shuffled": None, "allocated": "add-remove",
               "all": "add-remove"}  # fmt: skip
_RARE = Fraction(1, 10**10)  # the chance that any batch is cut, below which that is counted as a delta
_Run = tuple[Loss, int]
_Way = Callable[[Fraction, Fraction, Fraction], _Run]


def _rate(batch: object, rows: object, rate: object) -> Fraction:
    if rate is not None and (batch is not None or rows is not None):
        raise Refusal("The part of the rows in a batch is told twice.", cure="Give batch= and rows=, or rate=.")
    if rate is not None:
        share = rational(rate, name="rate")
        if not 0 < share <= 1:
            raise Refusal("rate is batch / rows, above 0 and at most 1.", cure="Write rate=0.01.")
        return share
    if batch is None or rows is None:
        raise Refusal("How large a part of the rows is in a batch is not told.", cure=f"{_WRITE} Or give rate=.")
    size, n = whole(batch, name="batch", least=1), whole(rows, name="rows", least=1)
    if size > n:
        raise Refusal(f"batch is {size}, more than the {n} rows.", cure="Give the number of rows of the whole data.")
    return Fraction(size, n)


def _passes(epochs: object, steps: object, share: Fraction) -> Fraction:
    """How many steps, exactly: epochs * rows / batch."""
    if (epochs is None) == (steps is None):
        raise Refusal("How long the training is must be told once: by epochs or by steps.", cure=_WRITE)
    if steps is not None:
        return Fraction(whole(steps, name="steps", least=1))
    return positive(epochs, name="epochs") / share


def _poisson(multiplier: Fraction, share: Fraction, steps: Fraction) -> _Run:
    return _gaussian(multiplier, 1).sampled(poisson=share), ceil(steps)


def _cut(multiplier: Fraction, share: Fraction, rows: int, largest: int, steps: int) -> Composition:
    """Poisson samples cut down to a largest batch."""
    rare = _at_least(largest, rows, share)
    if rare * steps > _RARE:
        return Composition(((_sampled(_gaussian(multiplier, 2), share), steps),))
    parts = [(_sampled(_gaussian(multiplier, 1), share), steps)]
    if rare:
        parts.append((Loss("cut_batch", {"epsilon": Fraction(0), "delta": rare}), steps))
    return Composition(tuple(parts))


def _sampled(loss: Loss, share: Fraction) -> Loss:
    return loss.sampled(poisson=share)


def _at_least(largest: int, rows: int, share: Fraction) -> Fraction:
    """At least the chance that so many of all others are taken, which are `rows` where a row is added; few digits."""
    if largest > rows:
        return Fraction(0)
    part = Fraction(largest, rows)
    if part <= share:
        return Fraction(1)
    with precision(128):
        gap = ball(part) * ball(part / share).log()
        if part < 1:
            gap += ball(1 - part) * ball((1 - part) / (1 - share)).log()
        most = bracket((-rows * gap).exp()).hi
    return min(Fraction(ceil(most * 2**200), 2**200), Fraction(1))


def _fixed_size(multiplier: Fraction, share: Fraction, steps: Fraction) -> _Run:
    return _gaussian(multiplier, 2).sampled(fixed_size=share), ceil(steps)


def _shuffled(multiplier: Fraction, share: Fraction, steps: Fraction) -> _Run:
    return _gaussian(multiplier, 1), ceil(steps * share)


def _allocated(multiplier: Fraction, share: Fraction, steps: Fraction) -> _Run:
    from dpcurator.accounting.allocation import allocated

    return allocated(multiplier, ceil(1 / share)), ceil(steps * share)


def _all(multiplier: Fraction, share: Fraction, steps: Fraction) -> _Run:
    return _gaussian(multiplier, 1), ceil(steps)


def _gaussian(multiplier: Fraction, shift: int) -> Loss:
    return Loss("gaussian", {"variance": multiplier**2, "shift": Fraction(shift)})
