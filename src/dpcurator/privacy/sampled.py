"""Losses on a sample of the rows: from a loss to that on the sample, and what a sampled family is made of.

Poisson sampling is for neighbours that add or remove a row, samples of a fixed size are for neighbours that replace
one; each is refused for the other (but for Gaussian noise on Poisson samples), and so is a sample of a sample. What
holds is argued in families/poisson.py, families/fixed_size.py and families/gaussian_mixture.py. Checked in
tests/privacy/test_sampled.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcurator.errors import Refusal
from dpcurator.numbers import rational
from dpcurator.privacy.families import FAMILIES
from dpcurator.privacy.families.on_sample import RATE, without_rate

if TYPE_CHECKING:
    from dpcurator.privacy.loss import Loss

WAYS = {"poisson": "add-remove", "fixed_size": "replace-one"}  # how rows are sampled, and for which neighbours

MIXED = (
    "Poisson samples are for neighbours that add or remove a row; samples of a fixed size and randomised response for "
    "those that replace one: together they say nothing."
)


def sampled(loss: Loss, *, poisson: object = None, fixed_size: object = None, neighbours: str | None = None) -> Loss:
    """See Loss.sampled."""
    given = [(way, rate) for way, rate in (("poisson", poisson), ("fixed_size", fixed_size)) if rate is not None]
    if len(given) != 1:
        raise Refusal(
            "A sample is a Poisson sample or one of a fixed size.", cure="Write sampled(poisson=q) or (fixed_size=m/n)."
        )
    ((way, spelled),) = given
    rate = rational(spelled, name=way)
    if not 0 < rate <= 1:
        raise Refusal(f"{way} is a part of the rows, above 0 and at most 1.", cure=f'Write {way}="1/100".')
    if way == "poisson" and neighbours == "replace-one":
        return _replaced(loss, rate)
    if neighbours not in (None, WAYS[way]):
        raise Refusal(
            f"{way} sampling is known here for {WAYS[way]} neighbours alone.",
            cure="For Poisson sampling add or remove a row (with Gaussian noise, or replace one); for samples of a "
            "fixed size replace one.",
        )
    if FAMILIES[loss.family].sample is not None:
        raise Refusal("A sample of a sample is one sample.", cure="Multiply the rates, and sample the loss once.")
    if FAMILIES[loss.family].neighbours not in (None, WAYS[way]):
        raise Refusal(
            f"{loss.family} compares one value of a row with another: it is for replace-one neighbours.",
            cure="Take samples of a fixed size, or call the mechanism pure.",
        )
    if f"{way}_{loss.family}" not in FAMILIES:
        raise Refusal(f"{loss.family} has no privacy loss distribution here.", cure="Sample a loss that has one.")
    if rate == 1:
        return loss
    return replace(loss, family=f"{way}_{loss.family}", parameters=(*loss.parameters, (RATE, rate)))


def _replaced(loss: Loss, rate: Fraction) -> Loss:
    """Of a row replaced on a Poisson sample, in terms of the loss of one added or removed."""
    square = FAMILIES[loss.family].mu_squared
    if square is None:
        raise Refusal(
            f"Of {loss.family} on a Poisson sample of which a row is replaced, nothing is known here.",
            cure="Ask towards adding or removing a row, or of Gaussian noise.",
        )
    mu_squared = square(loss.given)
    if mu_squared == 0:
        return loss
    if rate == 1:
        return replace(loss, family="gaussian", parameters=(("shift", Fraction(2)), ("variance", 1 / mu_squared)))
    given = (("rate", rate), ("shift", Fraction(1)), ("variance", 1 / mu_squared))
    return replace(loss, family="poisson_replaced_gaussian", parameters=given)


def way_of(loss: Loss) -> str | None:
    """ "poisson" or "fixed_size"; None for a loss on all rows."""
    sample = FAMILIES[loss.family].sample
    return None if sample is None else sample.way


def is_reverse(loss: Loss) -> bool:
    """Is it a loss on a sample with its directions exchanged?"""
    sample = FAMILIES[loss.family].sample
    return sample is not None and sample.backward


def neighbours_of(losses: Iterable[Loss]) -> str | None:
    """The neighbours that all of these are for, "add-remove" or "replace-one"; None where they say nothing of it.

    Randomised response replaces a value by another. Raises Refusal where two are for different neighbours.
    """
    found = {FAMILIES[loss.family].neighbours for loss in losses} - {None}
    if len(found) > 1:
        raise Refusal(MIXED, cure="Account for losses towards the same neighbours together, and for others apart.")
    return next(iter(found), None)


def on_all_rows(loss: Loss) -> Loss:
    """The loss whose sample this is; itself, if it is none."""
    sample = FAMILIES[loss.family].sample
    if sample is None:
        return loss
    return replace(loss, family=sample.base, parameters=tuple(without_rate(loss.given).items()))


def rate_of(loss: Loss) -> Fraction:
    """1 for a loss on all rows."""
    return loss.given.get(RATE, Fraction(1))
