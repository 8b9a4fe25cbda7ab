"""An audit by draws: pairs are looked at quickly, the most promising few closely, and events counted on fresh draws.

Promise     All that is stated holds together, but for chance alpha = 1 - confidence: the r-th look at pairs has
            alpha/2**(r+1) for its events, so all looks have alpha/2; making a witness smaller has the other half, and
            its k-th try alpha/(2 k (k + 1)). Whatever is chosen in between was chosen before those draws. A count that
            the time cuts short is thrown away whole, so how long a draw takes chooses no counts.
            What was found by draws in a row is drawn one by one too, and refused where the two contradict each other:
            then draws are not independent, and no limit holds. The refusal takes nothing from what is stated.
Proof       auditing/draws/blackbox.py, of one count; shares of alpha add up (Bonferroni).
Checked     tests/audit/test_run.py, tests/audit/test_blackbox.py, tests/audit/test_copies.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from dpcurator.auditing.claims import Claim, Least, Pure
from dpcurator.auditing.draws.blackbox import OutOfTime, Sampler, count, tally
from dpcurator.auditing.draws.bound import deviations, lower, upper
from dpcurator.auditing.draws.features import GRAIN, LOW_BITS
from dpcurator.auditing.draws.search import Event, Ranking, again, best, search
from dpcurator.auditing.limits import Limits
from dpcurator.auditing.outcomes import nothing_else
from dpcurator.auditing.pairs import Pair
from dpcurator.auditing.picture import bars_of_draws
from dpcurator.auditing.report import FOUND, NOTHING, Finding, Report
from dpcurator.auditing.shrink import shrink as smaller_witness
from dpcurator.errors import Refusal

Candidate = tuple[Pair, Event]
Told = tuple[int, str, tuple[str, str]]  # which finding: of pairs turned round, events have the same words
_LISTED = 24  # events that are looked at again
_EVENTS = 4  # counted at a time
_QUICK, _CLOSE, _AGAIN = 1 << 14, 1 << 17, 1 << 19  # draws of each input to look at
_PLAIN = Fraction(4, 5)  # what an event of bits is worth, beside one that is easier to read
_FEW = 3  # pairs looked at closely
_APART, _SURELY = 500, Fraction(1, 10**12)  # draws made one by one of either input; the chance that a limit is wrong


def by_draws(
    function: Callable[..., Any], name: str, pairs: Sequence[Pair], claim: Claim | None, limits: Limits, shrinking: bool
) -> Report:
    looked_for = Pure(0) if claim is None else claim
    sampler = Sampler(function, until=limits.until + 0.25 * limits.left + 1)
    findings: list[Finding] = []
    events: dict[Told, Candidate] = {}
    searched, counted, round_, pairs_tried = 0, 0, 0, 0
    verdict, found_on, notes, smaller = NOTHING, None, [], None
    try:
        for candidates, close, looked_at in _looks(sampler, pairs, looked_for, claim, limits):
            round_, pairs_tried, searched = round_ + 1, looked_at, max(searched, close)
            share = limits.alpha / 2 ** (round_ + 1)
            found, draws = _counted(sampler, candidates, share, looked_for, limits)
            findings, counted = [*findings, *found], max(counted, draws)
            events |= {_told(one): candidate for one, candidate in zip(found, candidates, strict=True)}
            if claim is not None and any(claim.contradicted(one.p, one.q) for one in found):
                verdict = FOUND
                break
    except OutOfTime:
        notes.append("it is too slow for the time: what was begun last was not counted to its end, and says nothing")
    findings.sort(key=telling, reverse=True)
    if verdict == NOTHING and not sampler.answered and sampler.raised:
        raise nothing_else(f"raising {sampler.raised}")
    if verdict == FOUND:
        told = next(one for one in findings if claim is not None and claim.contradicted(one.p, one.q))
        _same_apart(sampler, told, events[_told(told)][1], limits.left / 8)
    if verdict == FOUND and shrinking and findings[0].pair.neighbours is not None:
        assert claim is not None
        smaller, tries = smaller_witness(
            findings[0].pair, _again(sampler, claim, limits, counted, events), until=limits.until
        )
        if smaller is not None:
            found_on, findings = findings[0].pair, [smaller, *findings]
            notes.append(f"found on larger inputs first, then {tries} smaller tried on fresh draws")
    if findings and of_bits(findings[0]):
        notes.append("the last bits of a double tell which inputs it can come from; bits=False looks past them")
    seen = events.get(_told(findings[0])) if findings else None
    picture = None if seen is None else _bars(sampler, seen, counted)
    return Report(
        verdict, name, claim, tuple(findings), "black box", limits.alpha, counted, searched, 0.0, pairs_tried,
        getattr(claim, "delta", Fraction(0)), looked_for.measure, found_on, tuple(notes),
        picture,
    )


def _told(found: Finding) -> Told:
    return id(found.pair), found.event, found.direction


def _same_apart(sampler: Sampler, found: Finding, event: Event, seconds: float) -> None:
    """Draws are independent, or nothing can be said: made one by one, in turns, an event is as likely as in lots.

    Each of four limits is wrong with chance at most 1e-12, so draws that are independent are refused at most so often.
    """
    assert found.counts is not None
    counts = found.counts if event.forward else found.counts[::-1]
    data, seen = (found.pair.first, found.pair.second), [0, 0]
    begun = time.monotonic()
    try:
        sampler.alone(data[0], 4)
        draws = min(_APART, int(2 * seconds / max(time.monotonic() - begun, 1e-9)))
        for _ in range(draws):
            for side in (0, 1):
                seen[side] += int(event.holds(sampler.alone(data[side], 1)).sum())
    except OutOfTime:
        return
    for one, of_lots in zip(seen, counts, strict=True) if draws else ():
        low, high = lower(one, draws, _SURELY), upper(one, draws, _SURELY)
        if low > upper(of_lots, found.draws, _SURELY) or high < lower(of_lots, found.draws, _SURELY):
            raise Refusal(
                f"Its draws are not independent: {found.event} in {of_lots:,} of {found.draws:,} draws in a row, "
                f"and in {one:,} of {draws:,} made one by one.",
                cure="Keep nothing from call to call, and give each of `size` outcomes noise of its own.",
            )


def _bars(sampler: Sampler, seen: Candidate, counted: int) -> Any:
    try:
        return bars_of_draws(sampler, *seen, counted=counted)
    except OutOfTime:
        return None


def telling(found: Finding) -> tuple[Least, Fraction]:
    """What to show first."""
    return found.at_least * (_PLAIN if of_bits(found) else 1), found.p


def of_bits(found: Finding) -> bool:
    """Does the event look at the bits of a double?"""
    return found.event.startswith((GRAIN, LOW_BITS))


def _again(
    sampler: Sampler, claim: Claim, limits: Limits, draws: int, seen: dict[Told, Candidate]
) -> Callable[[Pair, int], Finding | None]:
    """A try at a smaller pair: its own search, and its own draws to count on."""

    def test(pair: Pair, number: int) -> Finding | None:
        share = limits.alpha / (2 * number * (number + 1))
        few = min(draws, 100_000)
        ranking = Ranking(claim, few, deviations(float(share) / 4))
        try:
            events = best(_events(sampler, pair, min(_QUICK, few), ranking, limits.bits), 2)
        except OutOfTime:
            return None
        if not events or max(event.score for event in events) <= float(claim.parameter):
            return None
        limits.tell("making it smaller", number, number)
        try:
            found = count(sampler, pair, events, draws=few, alpha=share, claim=claim)
        except OutOfTime:
            return None
        seen.update({_told(one): (pair, event) for one, event in zip(found, events, strict=True)})
        top = max(found, key=telling)
        return top if claim.contradicted(top.p, top.q) else None

    return test


def _looks(
    sampler: Sampler, pairs: Sequence[Pair], claim: Claim, claimed: Claim | None, limits: Limits
) -> Iterator[tuple[list[Candidate], int, int]]:
    """Events worth counting: as soon as some are expected to contradict the claim, else the best of all pairs."""
    speed = sampler.speed(pairs[0].first, limit=min(1.0, limits.left / 20))
    planned = _affordable(limits.samples, speed, limits.left / 2)
    ranking = Ranking(claim, planned, deviations(float(limits.alpha) / (8 * _EVENTS)))
    share = limits.left * (0.25 if len(pairs) > _FEW else 0.0) / len(pairs)
    quick = min(_QUICK, limits.samples, max(100, int(speed * share / 2)))
    begun_with = limits.left
    promising: list[tuple[float, int, Pair]] = []
    for place, pair in enumerate(pairs):
        if len(pairs) <= _FEW:
            promising.append((0.0, place, pair))
            continue
        if limits.left < 0.6 * begun_with and promising:
            break
        events = _events(sampler, pair, quick, ranking, limits.bits)
        limits.tell("looking for pairs", place + 1, len(pairs))
        promising.append((-max((event.cautious for event in events), default=0.0), place, pair))
        if events and claimed is not None and max(e.cautious for e in events) > 1.3 * float(claimed.parameter) + 0.05:
            yield [(pair, event) for event in best(events, _EVENTS)], quick, place + 1
    looked_at = len(promising)
    promising.sort(key=lambda one: one[:2])
    close = min(_CLOSE, limits.samples // 2, max(100, int(speed * limits.left / (8 * min(_FEW, len(promising))))))
    more = min(_AGAIN, limits.samples // 2, int(speed * limits.left / (8 * min(_FEW, len(promising)))))
    candidates: list[Candidate] = []
    for place, (_, _, pair) in enumerate(promising[:_FEW]):
        events = _events(sampler, pair, close, ranking, limits.bits)
        if more >= close:
            events = again(events, tally(sampler, pair, events, more), more, ranking)
        candidates += [(pair, event) for event in events]
        limits.tell("looking for events", place + 1, min(_FEW, len(promising)))
    chosen = best([event for _, event in candidates], _EVENTS)
    yield [(pair, event) for pair, event in candidates if any(event is one for one in chosen)], close, looked_at


def _events(sampler: Sampler, pair: Pair, draws: int, ranking: Ranking, bits: bool) -> list[Event]:
    one, other = sampler.draw(pair.first, draws), sampler.draw(pair.second, draws)
    return search(one, other, ranking, most=_LISTED, bits=bits)


def _affordable(samples: int, speed: float, seconds: float) -> int:
    return min(samples, max(100, int(speed * seconds / 2)))


def _counted(
    sampler: Sampler, candidates: list[Candidate], share: Fraction, claim: Claim, limits: Limits
) -> tuple[list[Finding], int]:
    """Every candidate on fresh draws; how many fit is decided here, before they are drawn."""
    pairs = list(dict.fromkeys(map(id, (pair for pair, _ in candidates))))
    if not pairs:
        return [], 0
    speed = sampler.speed(candidates[0][0].first, limit=min(0.5, limits.left / 20))
    draws = _affordable(limits.samples, speed, 0.7 * limits.left / len(pairs))
    found: list[Finding] = []
    for place in pairs:
        own = [(pair, event) for pair, event in candidates if id(pair) == place]
        found += count(
            sampler, own[0][0], [event for _, event in own], draws=draws, claim=claim,
            alpha=share * len(own) / len(candidates), told=lambda done, of: limits.tell("counting", done, of),
        )
    return found, draws
