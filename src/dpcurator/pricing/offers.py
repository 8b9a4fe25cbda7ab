"""What a caller offers to pay, read once into exact values: a price, a delta, a confidence, and the rows they expect.

`Asking` and `BatchAsking` are the keywords, declared once for all methods that take them. A number or text means the
same here as everywhere (`numbers`): 0.1, "0.1" and Fraction(1, 10) are one tenth. All of it follows from the words of
the call and the catalog; no data is looked at. Checked in tests/pricing/test_offers.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final, TypedDict, TypeVar, cast

from dpcurator.catalog.model import Catalog
from dpcurator.errors import Refusal
from dpcurator.language.question import Caps, Question, caps_of
from dpcurator.numbers import decimal_text, positive, whole
from dpcurator.numbers.rational import Spelled, between_0_and_1, from_0_below_1
from dpcurator.plan.nodes import Plan
from dpcurator.plan.relation_facts import rows_known
from dpcurator.pricing.goals import best_shared, goals_of
from dpcurator.pricing.menu import price_for, titled
from dpcurator.pricing.prices import Price, epsilon_of, rho_of, share_of
from dpcurator.pricing.quote import CONFIDENCE, Quote, for_bars
from dpcurator.pricing.resolve import Resolved

Method = TypeVar("Method", bound=Callable[..., Any])


class CapsAsking(TypedDict, total=False):
    """Contribution bounding for one question, or one batch, instead of the catalog's."""

    max_total: int | str | None
    max_rows: int | str | None
    max_groups: int | str | None
    min_units: int | str | None


class PricedAsking(CapsAsking, total=False):
    """A price, one of epsilon, rho and spend; caps; and whether it is counted how many units these cut."""

    epsilon: Spelled | None
    rho: Spelled | None
    delta: Spelled | None
    spend: str | None
    confidence: Spelled
    cut: bool | None


class BatchAsking(PricedAsking, total=False):
    """The same, and errors that are wanted in place of a price."""

    within: Mapping[str, Spelled] | None
    assume_count: int | str | None


class SeveralAsking(BatchAsking, total=False):
    """The same, and what only several questions can have: how they share one price, in proportion."""

    shares: Sequence[Spelled] | None


class Asking(BatchAsking, total=False):
    """The same, and what only one question by itself can have."""

    weights: Mapping[str, Spelled] | None


PRICES: Final = ("epsilon", "rho", "spend", "within")


@dataclass(frozen=True, slots=True)
class Offer:
    """What was offered. price: None where `targets` say what is wanted instead: an error (Fraction > 0) for each named
    column, or where it is named in `parts`, a part of the size given there, or of what it has at least by public facts
    where none is given (None). delta: the most that may be spent, None for the price's share. rows: that a group is
    assumed to have. weights: how much the error bar of each named column counts in the split of the price, 1 for the
    others. shares: how much of the price each of several questions has, in proportion; () for equal shares."""

    price: Price | None
    targets: Mapping[str, Fraction]
    delta: Fraction | None
    rows: int | None
    confidence: Fraction
    weights: Mapping[str, Fraction] = field(default_factory=dict)
    parts: Mapping[str, Fraction | None] = field(default_factory=dict)
    shares: tuple[Fraction, ...] = ()

    def quote(self, plan: Plan, catalog: Catalog) -> Quote:
        """The plan at what is offered. Raises Refusal."""
        if self.price is not None:
            weights = titled(plan, self.weights, "weight") if self.weights else {}
            return best_shared(
                plan, self.price, catalog, confidence=self.confidence, rows=self.rows, weights=weights
            )
        return price_for(
            plan, catalog, self.targets, rows=self.rows, confidence=self.confidence, delta=self.delta, parts=self.parts
        )


    def under(self, plan: Plan, of: Resolved, own: Quote) -> Quote:
        """The same question under other caps, for its error bars only. own: its quote under its own; of: what the plan
        rests on. Raises Refusal."""
        assert self.price is not None
        weights = titled(plan, self.weights, "weight")
        rows = self.rows or rows_known(plan, own.catalog)
        goals = goals_of(plan, self.price, rows=rows, weights=weights, of=of)
        return for_bars(own, replace(self.price, goals=goals), plan=plan, resolved=of)


def offer_of(catalog: Catalog, given: Asking) -> Offer:
    """The offer for one question. Raises Refusal, and TypeError for a keyword that is none."""
    known(given, Asking)
    level, within = level_of(given.get("confidence", CONFIDENCE)), given.get("within") or None
    named = [name for name in PRICES if (within if name == "within" else given.get(name)) is not None]
    if len(named) != 1:
        what = f"{' and '.join(named)} are two prices" if named else "a quote needs a price"
        raise Refusal(f"{what}.", cure='Give one of epsilon="0.1", spend="5%" or within={"n": 50}.')
    delta, rows = _delta(given), rows_of(given.get("assume_count"))
    weights = _by_column(given.get("weights") or {}, "weights", "the weight", '{"n": 2, "mean": 1}')
    if within is None:
        return Offer(_price(catalog, given, delta), {}, delta, rows, level, weights)
    if weights:
        raise Refusal("within and weights both say how the price is split.", cure="Leave out one of them.")
    read = _by_column(within, "within", "the error", '{"n": 50}')
    parts = {title: _of_size(title, error) for title, error in within.items() if _in_percent(error)}
    return Offer(None, read, delta, rows, level, parts=parts)


def _by_column(given: object, name: str, what: str, like: str) -> dict[str, Fraction]:
    """A number for each named column. Raises Refusal."""
    if not (isinstance(given, Mapping) and all(isinstance(title, str) for title in given)):
        its = what.replace("the", "its")
        raise Refusal(f"{name} names columns, each with {its}.", cure=f"Write it as in {name}={like}.")
    found: dict[str, Fraction] = {}
    for title, number in given.items():
        percent = name == "within" and _in_percent(number)
        text = str(number).partition("%")[0].strip() if percent else number
        found[title] = positive(text, name=f"{what} of {title!r}") / (100 if percent else 1)
    return found


def _in_percent(error: object) -> bool:
    return isinstance(error, str) and ("%" in error)


def _of_size(title: str, error: Spelled) -> Fraction | None:
    """The size in "5% of 90000"; None in "5%". Raises Refusal."""
    _, _, rest = str(error).partition("%")
    if not rest.strip():
        return None
    of, _, size = rest.strip().partition(" ")
    if of.lower() != "of":
        raise Refusal(f"the error of {title!r} is a part of a size.", cure="Write it as in 5%, or 5% of 90000.")
    return positive(size.strip(), name=f"the size of {title!r}")


def batch_offer_of(catalog: Catalog, given: SeveralAsking) -> Offer:
    """The offer for a batch: one price for all, or errors of their columns. Raises Refusal, TypeError as `offer_of`."""
    known(given, SeveralAsking)
    if sum(bool(given.get(name)) if name == "within" else given.get(name) is not None for name in PRICES) != 1:
        raise Refusal(
            "a batch needs one price.", cure='Give one of epsilon="0.1", rho="0.005", spend="5%" or within={"n": 50}.'
        )
    shares = given.get("shares")
    alone = {name: value for name, value in given.items() if name != "shares"}
    offer = offer_of(catalog, cast(Asking, alone))
    if shares is None:
        return offer
    if offer.price is None:
        raise Refusal("within gives each question its own price, and shares divide one.", cure="Leave out one of them.")
    if isinstance(shares, str) or not isinstance(shares, Sequence):
        raise Refusal("shares are a list of numbers, one a question.", cure="Write it as in shares=[3, 1, 1].")
    return replace(offer, shares=tuple(positive(one, name="a share") for one in shares))


def said_by(question: Question, given: Asking) -> Asking:
    """The keywords with the price that the question itself says, where it says one. Raises Refusal."""
    if not question.price:
        return given
    if not unpriced(given) or (given.get("delta") is not None and "delta" in dict(question.price)):
        raise Refusal("the question says its price, and another is given.", cure="Leave out one of them.")
    return cast(Asking, {**given, **dict(question.price)})


def capped(question: Question, given: BatchAsking) -> Question:
    """The question under the caps given beside it, where any is. Raises Refusal."""
    caps = caps_of(given.get("max_total"), given.get("max_rows"), given.get("max_groups"), given.get("min_units"))
    if caps == Caps():
        return question
    if question.caps != Caps():
        raise Refusal("the question says its caps, and others are given.", cure="Leave out one of them.")
    return replace(question, caps=caps)


def cut_wanted(given: BatchAsking) -> bool | None:
    """Whether the cut is wanted: None, where it is paid with what else is. Raises Refusal."""
    wanted = given.get("cut")
    if wanted is not None and not isinstance(wanted, bool):
        raise Refusal("cut is True, False or None.", cure="Write it as in cut=False.")
    return wanted


def unpriced(given: BatchAsking) -> bool:
    """Whether no price is among the keywords."""
    return not given.get("within") and all(given.get(name) is None for name in PRICES if name != "within")


def takes(asking: type) -> Callable[[Method], Method]:
    """For a method with `**asked: Unpack[asking]`: `help` and `inspect` show each keyword by its name."""

    def shown(method: Method) -> Method:
        signature = inspect.signature(method)
        keywords = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, annotation=getattr(hint, "__forward_arg__", hint),
                default=float(CONFIDENCE) if name == "confidence" else None,
            )
            for name, hint in asking.__annotations__.items()
        ]
        plain = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        first = [one for one in plain if one.kind is not inspect.Parameter.KEYWORD_ONLY]
        method.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*first, *keywords, *(one for one in plain if one not in first)]
        )
        return method

    return shown


def known(given: Mapping[str, Any], asking: type) -> None:
    """Raises TypeError for a keyword that is none of these."""
    for name in given:
        if name not in asking.__annotations__:
            raise TypeError(f"there is no keyword {name!r} here: a price takes {', '.join(asking.__annotations__)}")


def _delta(given: BatchAsking) -> Fraction | None:
    delta = given.get("delta")
    return None if delta is None else delta_of(delta)


def rows_of(assume_count: int | str | None) -> int | None:
    """The number of rows a group is assumed to have, if any. Raises Refusal."""
    return None if assume_count is None else whole(assume_count, name="assume_count", least=1)


def _price(catalog: Catalog, given: BatchAsking, delta: Fraction | None) -> Price:
    """The price of the one that is given: epsilon, rho, or a share of the whole budget. Raises Refusal."""
    epsilon, rho, spend = given.get("epsilon"), given.get("rho"), given.get("spend")
    if epsilon is not None:
        return epsilon_of(catalog, positive(epsilon, name="epsilon"), delta)
    if rho is not None:
        return rho_of(catalog, positive(rho, name="rho"), delta)
    return share_of(catalog, _share(spend), delta)


def _share(spend: object) -> Fraction:
    """A part of the whole budget. Raises Refusal."""
    text = spend.strip() if isinstance(spend, str) else spend
    if isinstance(text, str) and text.endswith("%"):
        return positive(text[:-1].strip(), name="spend") / 100
    raise Refusal("spend is a share of the whole budget.", cure='Write it as in "5%"; or give epsilon.')


def check_said(name: str, value: Any) -> None:
    """That a keyword's value can be read, whatever else is asked for. Raises Refusal."""
    match name:
        case "epsilon" | "rho":
            positive(value, name=name)
        case "spend":
            if _share(value) > 1:
                raise Refusal("spend is at most 100%.", cure='Write it as in "5%".')
        case "within":
            _by_column(value, "within", "the error", '{"n": 50}')
        case "delta":
            delta_of(value)
        case "confidence":
            level_of(value)
        case "assume_count":
            rows_of(value)
        case "max_total" | "max_rows" | "max_groups" | "min_units":
            caps_of(**{name: value})
        case "cut":
            cut_wanted({"cut": value})


def delta_of(delta: object) -> Fraction:
    """The most delta that a question may use. Raises Refusal."""
    return from_0_below_1(delta, like="1e-8")


def level_of(confidence: object) -> Fraction:
    """The chance that an error bar holds. Raises Refusal."""
    if isinstance(confidence, str) and confidence.strip().endswith("%"):
        share = positive(confidence.strip()[:-1], name="confidence") / 100
        meant = f"Write it as {decimal_text(share)}." if share < 1 else "Write it as in 0.95."
        raise Refusal("confidence is a number below 1, not a percentage.", cure=meant)
    return between_0_and_1(confidence, name="confidence", like="0.95")
