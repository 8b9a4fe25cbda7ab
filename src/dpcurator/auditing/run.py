"""`audit`: from a mechanism and a claim to a report.

Definition  Distributions that are known are compared exactly (auditing/exact/by_laws.py), others are drawn from
            (auditing/draws/by_draws.py); what each of them promises is said there. A plain function is replayed first,
            see `_replayed`. Pairs of rows within the bounds are looked at first; pairs with a row outside (nan, an
            infinity, numbers far off) after them, only where the first contradicted nothing, and what these show
            beyond the claim is labelled so: a claim for bounded rows need not hold for rows that there are none of.
Promise     All that a report states holds together but for probability alpha = 1 - confidence, or for certain.
Proof       Either part has alpha/2 for everything that it states (by_draws.py), whatever its pairs are, and is given
            fresh draws. Let A and B be the events that the first and the second part state something false, B empty
            where the second is not run. P(A) <= alpha/2. Whether the second is run, and on which pairs, is settled by
            the first part's draws, and given these P(B) <= alpha/2, so P(B) <= alpha/2, and P(A or B) <= alpha. Time
            that the first part leaves over is no draw of the second. With one part it has all of alpha.
Checked     tests/audit/test_run.py, tests/audit/test_known_mistakes.py, tests/audit/test_copies.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dpcurator.auditing.claims import Claim, claim_of
from dpcurator.auditing.draws.blackbox import takes
from dpcurator.auditing.draws.by_draws import by_draws
from dpcurator.auditing.exact.by_laws import Unsteady, by_laws
from dpcurator.auditing.exact.laws import ExactLaw, law_for
from dpcurator.auditing.limits import Limits, Progress
from dpcurator.auditing.pairs import Pair, propose
from dpcurator.auditing.replay.replay import refuse_coroutine, replay
from dpcurator.auditing.report import NOTHING, Report
from dpcurator.entropy import SystemEntropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms import row_of
from dpcurator.numbers import positive, whole
from dpcurator.numbers.rational import between_0_and_1

if TYPE_CHECKING:
    from dpcurator.numbers.rational import Spelled

_REPLAYED = 4  # pairs replayed
_WITHIN = 0.6  # of the time, for rows within the bounds
_OUTSIDE = (
    "found on a row outside the bounds alone; rows within them contradicted nothing. It counts if such a row can "
    "reach the function; hostile=False leaves them out"
)


def audit(
    mechanism: Any,
    *,
    pair: Any = None,
    claim: Claim | None = None,
    neighbours: str | None = None,
    domain: Any = None,
    samples: Spelled = 200_000,
    seconds: Spelled = 60,
    confidence: Spelled = "0.999999",
    progress: Progress | None = None,
    hostile: bool = True,
    units: bool = False,
    shrink: bool = True,
    bits: bool = True,
) -> Report:
    """Audits a mechanism: looks for an event whose probabilities on two neighbouring inputs contradict a claim.

    Promise: what is reported as found holds with probability at least `confidence`, or for certain where it says so.
    "No violation found" is no proof of privacy.

    Parameters:
        mechanism: one of
            a mechanism of dpcurator with an exact distribution         every divergence exactly, no draws;
            `dp.exact_law(f)`, f(data) -> {outcome: probability}        the same;
            f(data, entropy) -> outcome                 every string of random bits is tried, as far as time allows;
            f(data, size) -> `size` outcomes along the first axis       draws, in large batches;
            f(data) -> outcome                                          draws, one by one.
            An outcome is a number, a text, None, a bool, nan, an infinity, or a list, tuple or array of such of any
            length. An exception is an outcome too, by the name of its type.
        pair: (input, neighbouring input); without it, `neighbours` and `domain` say which pairs to try.
        claim: dp.Pure(1), dp.Approximate(1, "1e-6") or dp.Zcdp("0.5"); by itself that of the mechanism's own loss.
        neighbours: "add-remove" or "replace-one" for lists of rows; "vector" or "number" for answers that move by at
            most 1.
        domain: (low, high) of one row's value, or a list of values.
        samples: int >= 100, draws of each input that events are counted on; about as many again choose the events.
        seconds: number > 0, a limit; draws that do not fit are not made, and the report says how many were.
        confidence: number in (0, 1), of all that the report states.
        progress: called with (what, done, of how many).
        hostile: whether to try rows outside the bounds too, after those within; what they show is labelled.
        units: whether rows are pairs (unit, value).
        shrink: whether to look for a smaller witness, where no pair was given.
        bits: whether to look at the bits of doubles too; without, they are read as real numbers.

    Returns a report, with `verdict`, `violated` and the event. Raises Refusal if the neighbours are not known, a
    parameter is out of its range, or there is nothing to audit.

    >>> import dpcurator as dp
    >>> report = dp.audit(dp.RandomisedResponse(values=2, epsilon=1), pair=(0, 1), claim=dp.Pure("0.5"))
    >>> report.verdict
    'violation found (certain)'

    Source: Ding, Wang, Wang, Zhang, Kifer 2018; Bichsel, Steffen, Bogunovic, Vechev 2021 (the search for events).
    """
    begun = time.monotonic()
    alpha = 1 - between_0_and_1(confidence, name="confidence", like="0.999999")
    limit = float(positive(seconds, name="seconds"))
    limits = Limits(whole(samples, name="samples", least=100), begun + limit, alpha, progress or _silent, bits)
    if claim is not None and not hasattr(claim, "contradicted"):
        raise Refusal("claim must be a claim.", cure="Write dp.Pure(1), dp.Approximate(1, 1e-6) or dp.Zcdp(0.5).")
    pairs = _pairs(pair, neighbours, domain, hostile=hostile, units=units)
    if row_of(mechanism) is not None and claim is None:
        loss = getattr(mechanism, "loss", None)
        claim = claim_of(loss) if hasattr(loss, "family") else None
    refuse_coroutine(mechanism)
    replayed = tuple(_replayed(mechanism, pairs, limits.until)) if callable(mechanism) else ()
    within = tuple(one for one in pairs if not one.hostile)
    outside = tuple(one for one in pairs if one.hostile)
    if not within or not outside:
        report = _report(mechanism, pairs, claim, limits, shrink, replayed)
        return replace(report, seconds=time.monotonic() - begun)
    half = replace(limits, alpha=limits.alpha / 2)
    first = replace(half, until=limits.until - (1 - _WITHIN) * limits.left)
    report = _report(mechanism, within, claim, first, shrink, replayed)
    if not report.violated and limits.left > 0:
        report = _both(report, _report(mechanism, outside, claim, half, shrink, ()))
    alpha = limits.alpha if report.alpha else report.alpha
    return replace(report, alpha=alpha, seconds=time.monotonic() - begun)


def _report(
    mechanism: Any, pairs: Sequence[Pair], claim: Claim | None, limits: Limits, shrink: bool, replayed: tuple[str, ...]
) -> Report:
    """Of these pairs, with all that the limits allow."""
    law_of = law_for(mechanism)
    report = None
    if law_of is not None:
        try:
            report = by_laws(law_of, name_of(mechanism), pairs, claim, limits, shrink)
        except Unsteady:
            if isinstance(mechanism, ExactLaw):
                raise Refusal(
                    "The exact distribution of one input came out in two ways.", cure="Compute it from the input alone."
                ) from None
            replayed = (
                *replayed,
                "on the same input and bits it did something else, so its distribution was not taken from them",
            )
    if report is None or (report.verdict == NOTHING and takes(mechanism, "entropy") and not _told_all(report)):
        function = _function(mechanism)
        report = by_draws(function, name_of(mechanism), pairs, claim, limits, shrink)
    return replace(report, notes=(*report.notes, *replayed))


def _both(within: Report, outside: Report) -> Report:
    """Of rows within the bounds, where nothing was found, and of rows outside them."""
    found = outside.violated
    told = outside if found else within
    findings = (*outside.findings, *within.findings) if found else (*within.findings, *outside.findings)
    label = (_OUTSIDE,) if found else ()
    return replace(
        told,
        findings=findings,
        pairs=within.pairs + outside.pairs,
        samples=max(within.samples, outside.samples),
        searched=max(within.searched, outside.searched),
        alpha=max(within.alpha, outside.alpha),
        layer=within.layer if within.layer == outside.layer else "black box",
        notes=tuple(dict.fromkeys((*label, *within.notes, *outside.notes))),
    )


def _replayed(mechanism: Any, pairs: Sequence[Pair], until: float) -> Iterator[str]:
    """What a plain function does otherwise on a neighbour while its mechanisms give the same (replay/replay.py).

    Certain, but of the code and not of a probability, so a note and no verdict. What is random tells nothing here.
    """
    if row_of(mechanism) is not None or isinstance(mechanism, ExactLaw):
        return
    if takes(mechanism, "entropy") or takes(mechanism, "size"):
        return
    for pair in pairs[:_REPLAYED]:
        if time.monotonic() > until:
            return
        try:
            found = replay(mechanism, pair=(pair.first, pair.second), runs=1, names=("the first", "the second"))
        except Refusal:
            return
        if found.found:
            yield from (f"by replay, for certain: {one}" for one in found.mismatches[:3])
            return


def _pairs(pair: Any, neighbours: str | None, domain: Any, *, hostile: bool, units: bool) -> tuple[Pair, ...]:
    if pair is not None:
        if isinstance(pair, Pair):
            return (pair,)
        try:
            first, second = pair
        except (TypeError, ValueError):
            raise Refusal("pair must be two inputs.", cure="Write pair=([0, 1], [0, 1, 1]).") from None
        return (Pair(first, second),)
    if neighbours is None:
        raise Refusal(
            "Which inputs are neighbours is not known, and is never guessed.",
            cure='Give pair=(input, neighbour); or neighbours="add-remove" or "replace-one" with domain=(low, high); '
            'or neighbours="vector" or "number" for answers that move by at most 1.',
        )
    return propose(neighbours=neighbours, domain=domain, hostile=hostile, units=units)


def _function(mechanism: Any) -> Callable[..., Any]:
    """What is drawn from."""
    if (row := row_of(mechanism)) is not None and "release" in row.takes:
        return lambda data: mechanism.release(data)
    if not callable(mechanism):
        raise Refusal("There is nothing to audit.", cure="Give a mechanism with `release`, or a function of the data.")
    if takes(mechanism, "entropy") and not takes(mechanism, "size"):
        return lambda data: mechanism(data, entropy=SystemEntropy())
    function: Callable[..., Any] = mechanism
    return function


def _silent(what: str, done: int, of: int) -> None:
    pass


def name_of(mechanism: Any) -> str:
    named = getattr(mechanism, "__name__", None) or type(mechanism).__name__
    return "the function" if named == "<lambda>" else str(named)


def _told_all(report: Report) -> bool:
    return not report.notes
