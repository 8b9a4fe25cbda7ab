"""How the shell lays out what the rooms return."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from dpcurator.catalog.check import Finding
from dpcurator.ledger.events import Answered, Charged, Granted, Moved, Opened, Rekeyed
from dpcurator.ledger.history import Entry
from dpcurator.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpcurator.mechanisms.choice.top_counts import TopCounts
from dpcurator.mechanisms.choice.weighted_quantile import FlippedQuantile, WeightedQuantile
from dpcurator.numbers import decimal_text
from dpcurator.numbers.display import error_text
from dpcurator.numbers.text_table import printable, table_text
from dpcurator.plan.shown_name import in_sql
from dpcurator.pricing.bars import bars, describe
from dpcurator.pricing.priced import law_of, typical
from dpcurator.pricing.quote import Quote
from dpcurator.values import Budget

WIDEST: Final = 100  # letters of a question in `log`


def priced_text(quote: Any, budget: Budget) -> list[str]:
    """The price of a quote or a batch, and whether it can be paid."""
    after = budget.remaining - quote.cost
    afford = f"left after it {decimal_text(after)}"
    if after < 0:
        afford = f"NOT affordable: short by {decimal_text(-after)}"
    price = f"price: {budget.currency} {decimal_text(quote.cost)} of {decimal_text(budget.total)} ({afford})"
    if not quote.delta:
        return [price]
    short = quote.delta - budget.remaining_delta
    words = "NOT affordable: short by" if short > 0 else "left after it"
    left = f"{words} {decimal_text(abs(short))}"
    return [price, f"       delta {decimal_text(quote.delta)} of {decimal_text(budget.delta)} ({left})"]


def quote_text(quote: Quote, budget: Budget, *, of_batch: bool = False, paid_apart: bool = False) -> str:
    """Price, error bars, and for each paid reading why its noise is what it is. of_batch: at its share of the price.
    paid_apart: another question of the batch pays all of it."""
    if quote.free:
        return "free: every value is public, no private data would be read"
    amounts = f"{budget.currency} {decimal_text(quote.cost)}"
    amounts += f", delta {decimal_text(quote.delta)}" if quote.delta else ""
    amounts = "nothing" if paid_apart else amounts
    lines = [f"share of the price: {amounts}", ""] if of_batch else [*priced_text(quote, budget), ""]
    before = (None,) * len(quote.priced) if quote.held is None else quote.held.readings
    if quote.held is not None:
        lines.insert(-1, f"       {quote.paid_before()}")
    lines.append(f"error bars, with {decimal_text(quote.confidence * 100)} % confidence for each value:")
    lines += [f"  {printable(bar.title)}: {describe(bar)}" for bar in bars(quote)]
    lines += [] if quote.cut is None else [f"  {printable(str(quote.cut))}"]
    lines += [] if quote.named is None else [printable(quote.named)]
    lines += [printable(words) for words in quote.assumed]
    lines += counted_apart(quote)
    if quote.selecting is not None:
        lines += ["", *quote.selecting.told()]
    lines += [f"caution: {words}" for words in quote.cautions()]
    for number, (one, paid) in enumerate(zip(quote.priced, before, strict=True), 1):
        share = f"epsilon {decimal_text(one.epsilon)}" if one.epsilon else f"rho {decimal_text(one.rho)}"
        share = "nothing, as groups are selected by it" if number - 1 == quote.with_keys else share
        how = "for" if paid is None else "paid before, for"
        lines += ["", f"noisy query {number} of {len(quote.priced)}, {how} {share}:"]
        why = one.derivation[-1:] if one.ask.overall else one.derivation  # whatever the keys and caps
        lines += [f"  {printable(in_sql(step))}" for step in why]
        law = {
            DiscreteLaplace: "discrete Laplace noise of scale",
            DiscreteGaussian: "discrete Gaussian noise of standard deviation",
            WeightedQuantile: "the exponential mechanism: e times less likely for each further rank of",
            FlippedQuantile: "permute-and-flip: e times less likely to be considered for each further rank of",
            TopCounts: "the exponential mechanism, name by name: e times less likely for each further",
        }[type(law_of(one))]
        groups = "group" if quote.reach.chosen else f"{one.reading.coordinates} groups"
        each = f", independently for each{' ' if quote.reach.chosen else ' of '}{groups}"
        many = (quote.reach.chosen and not one.ask.overall) or one.reading.coordinates > 1
        lines.append(f"  {law} {error_text(typical(one))}{each if many else ''}")
    return "\n".join(lines)


def counted_apart(quote: Quote) -> list[str]:
    """Which declarations would save a noisy query: of columns whose rows are counted beside all rows, or another's."""
    asked = [one.ask for one in quote.priced if not one.ask.overall]
    counts = [ask.column for ask in asked if ask.what in ("rows", "present")]
    names = [printable(one.name) for one in counts if one is not None and one.column is not None]
    if len(counts) < 2 or not names:
        return []
    saved = min(len(names), len(counts) - 1)
    each = "each may be missing, so its rows are counted apart" if len(names) > 1 else (
        "it may be missing, so its rows are counted apart"
    )
    queries = f"{saved} of {len(asked)} noisy queries"
    return ["", f"{', '.join(names)}: {each}; a value declared for missing ones (missing = ...) saves {queries}"]


def findings_text(findings: list[Finding]) -> str:
    """What `check` found, one line each; then the lines to paste, each header once."""
    lines = [f"{found.level}: {printable(found.where)}: {printable(found.what)}" for found in findings]
    pasted: dict[str, list[str]] = {}
    for found in findings:
        if found.paste:
            pasted.setdefault(found.under, []).append(found.paste)
    if under := {header: pastes for header, pastes in pasted.items() if header}:
        lines.append("add these lines, or put them in place of those there, with your own values:")
        for header, pastes in under.items():
            lines += [f"    {printable(text)}" for text in [header, *pastes]]
    return "\n".join([*lines, *(f"then run: {command}" for command in pasted.get("", []))])


def log_text(entries: list[Entry]) -> str:
    """The history, one event a line: what was charged and what was left, and of delta too where there is any."""
    if not entries:
        return "no question has been asked yet"
    opened = next((entry.event for entry in entries if isinstance(entry.event, Opened)), None)
    currencies = _counted(opened) if opened else ()
    rows = [
        [str(e.position), _when(e.time), e.event.NAME, *_words(e, opened, currencies), *_question(e)] for e in entries
    ]
    amounts = [title for name in currencies for title in (name, "left")]
    titles = ["", "time (UTC)", "event", "request", *amounts, "analyst", "question"]
    return table_text(titles, rows, [True, False, False, False, *[True] * len(amounts), False, False])


def _question(entry: Entry) -> tuple[str, str]:
    """Who asked, and what, as SQL cut to one line; JSON has it whole, and `receipt` takes the request. Of a ledger that
    was moved, where to; of an account, what it may; of a key, which one it is."""
    if isinstance(entry.event, Moved):
        return "", f"to {printable(entry.event.to)}"
    if isinstance(entry.event, Granted):
        delta = f", delta {decimal_text(entry.event.delta)}" if entry.event.delta else ""
        signs_in = "" if entry.event.token else ", signs in no more"
        limit = f"{entry.event.role}, at most {decimal_text(entry.event.limit)}{delta}{signs_in}"
        return printable(entry.event.analyst), limit
    if isinstance(entry.event, Rekeyed):
        return "", f"the key is {entry.event.new}"
    if not isinstance(entry.event, Charged):
        return "", ""
    asked = printable(entry.event.asked)
    return printable(entry.event.analyst), asked if len(asked) <= WIDEST else f"{asked[: WIDEST - 1]}…"


def _counted(opened: Opened) -> tuple[str, ...]:
    return ("rho" if opened.rho else "epsilon", *(("delta",) if opened.delta else ()))


def _when(time: str) -> str:
    try:
        return datetime.fromisoformat(time).strftime("%Y-%m-%d %H:%M:%S")
    except ValueError:
        return time


def _words(entry: Entry, opened: Opened | None, currencies: tuple[str, ...]) -> list[str]:
    """The request, then (what was charged, what was left) in each currency."""
    match entry.event:
        case Opened() as first:
            return ["", *(text for name in currencies for text in ("", decimal_text(getattr(first, name))))]
        case Charged() as charged:
            words = [charged.request[:8]]
            for name in currencies:
                left = getattr(opened, name) - getattr(charged, f"spent_{name}")
                words += [decimal_text(getattr(charged, name)), decimal_text(left)]
            return words
        case Answered() as answered:
            return [answered.request[:8], *[""] * (2 * len(currencies))]
    return [""] * (1 + 2 * len(currencies))
