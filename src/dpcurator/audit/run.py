"""`audit`: from a mechanism and a claim to a report.

Definition  Exact laws are compared exactly (audit/exact.py). Otherwise pairs are looked at quickly, the most promising
            few closely, and the best events over all of them are counted on fresh draws (audit/blackbox.py).
            A plain function is replayed first, see `_replayed`.
Promise     All that a black-box report states holds together, but for chance alpha = 1 - confidence: the r-th look at
            pairs has alpha/2**(r+1) for its events, so all looks have alpha/2; making a witness smaller has the other
            half, and its k-th try alpha/(2 k (k + 1)). Whatever is chosen in between was chosen before those draws.
            "Certain" is said of laws that came out the same twice: what surely differs from itself has no law. What was
            found by draws in a row is drawn one by one too, and refused where the two contradict each other: then draws
            are not independent, and no limit holds. The refusal takes nothing from what is stated.
            A count that the time cuts short is thrown away whole, so how long a draw takes chooses no counts.
Checked     tests/audit/test_run.py, tests/audit/test_known_mistakes.py, tests/audit/test_taken.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpcurator.audit.blackbox import OutOfTime, Sampler, count, takes, tally
from dpcurator.audit.bound import deviations, lower, upper
from dpcurator.audit.claims import Claim, Least, Pure, claim_of
from dpcurator.audit.drawn import Raised
from dpcurator.audit.exact import Law, compare, rest
from dpcurator.audit.features import GRAIN, LOW_BITS
from dpcurator.audit.laws import ExactLaw, LawOf, guarded, law_for, own, unsteady
from dpcurator.audit.pairs import Pair, propose
from dpcurator.audit.picture import bars_of_draws, bars_of_laws
from dpcurator.audit.replay import refuse_coroutine, replay
from dpcurator.audit.report import CERTAIN, FOUND, NOTHING, Finding, Report
from dpcurator.audit.search import Event, Ranking, again, best, search
from dpcurator.audit.shrink import shrink as smaller_witness
from dpcurator.entropy import SystemEntropy
from dpcurator.errors import Refusal
from dpcurator.numbers import positive, whole

Candidate = tuple[Pair, Event]
Progress = Callable[[str, int, int], None]  # what is being done, done, of how many
_LISTED = 24  # events that are looked at again
_EVENTS = 4  # counted at a time
_QUICK, _CLOSE, _AGAIN = 1 << 14, 1 << 17, 1 << 19  # draws of each input to look at
_PLAIN = Fraction(4, 5)  # what an event of bits is worth, beside one that is easier to read
_FEW = 3  # pairs looked at closely
_REPLAYED = 4  # pairs replayed
_APART, _SURELY = 500, Fraction(1, 10**12)  # draws made one by one of either input; the chance that a limit is wrong


@dataclass(frozen=True, slots=True)
class Limits:
    """samples, until (a moment of the monotonic clock), alpha and whom to tell."""

    samples: int
    until: float
    alpha: Fraction
    tell: Progress
    bits: bool

    @property
    def left(self) -> float:
        return max(0.0, self.until - time.monotonic())


def audit(
    mechanism: Any,
    *,
    pair: Any = None,
    claim: Claim | None = None,
    neighbours: str | None = None,
    domain: Any = None,
    samples: object = 200_000,
    seconds: object = 60,
    confidence: object = "0.999999",
    progress: Progress | None = None,
    hostile: bool = True,
    units: bool = False,
    shrink: bool = True,
    bits: bool = True,
) -> Report:
    """Look for an event whose chances on two neighbouring inputs contradict the claim.

    mechanism, one of:
        a mechanism of dpcurator with an exact law     every divergence exactly, no draws
        `dp.exact_law(f)`, f(data) -> {outcome: chance}    the same
        f(data, entropy) -> outcome                    every string of random bits is tried, as far as time allows
        f(data, size) -> `size` outcomes, first axis   draws, in large lots
        f(data) -> outcome                             draws, one by one
    An outcome is a number, a text, None, a bool, nan, an infinity, or a list, tuple or array of such of any length. An
    exception is an outcome too, by the name of its type.

    pair: (input, neighbouring input), or a Pair. Without one `neighbours` and `domain` say what to try: see
    audit/pairs.py. claim: dp.Pure(1), dp.Approximate(1, 1e-6), dp.Zcdp(0.5); by itself what the mechanism's own loss
    says, if it has one. samples: draws of each input that events are counted on; about as many again, at most, are used
    to choose events. seconds: a limit; draws that do not fit are not made, and the report says how many were.
    confidence: that all the report states holds. hostile: also try rows outside the bounds. units: rows are
    (unit, value). shrink: look for a smaller witness, where the pair was not given. bits: look at the bits of doubles
    too; without, they are taken as real numbers. progress: called with (what, done, of how many). Raises Refusal for
    what is no such question.
    """
    begun = time.monotonic()
    alpha = 1 - positive(confidence, name="confidence")
    if not 0 < alpha < 1:
        raise Refusal("confidence must be below 1.", cure="Write confidence as in 0.999999.")
    limit = float(positive(seconds, name="seconds"))
    limits = Limits(whole(samples, name="samples", least=100), begun + limit, alpha, progress or _silent, bits)
    if claim is not None and not hasattr(claim, "contradicted"):
        raise Refusal("claim must be a claim.", cure="Write dp.Pure(1), dp.Approximate(1, 1e-6) or dp.Zcdp(0.5).")
    pairs = _pairs(pair, neighbours, domain, hostile=hostile, units=units)
    if own(mechanism) and claim is None:
        loss = getattr(mechanism, "loss", None)
        claim = claim_of(loss) if hasattr(loss, "family") else None
    refuse_coroutine(mechanism)
    replayed = tuple(_replayed(mechanism, pairs, limits.until)) if callable(mechanism) else ()
    law_of = law_for(mechanism)
    report = None
    if law_of is not None:
        try:
            report = _exactly(law_of, name_of(mechanism), pairs, claim, limits, shrink)
        except Unsteady:
            if isinstance(mechanism, ExactLaw):
                raise Refusal(
                    "The exact law of one input came out in two ways.", cure="Compute it from the input alone."
                ) from None
            replayed = (
                *replayed,
                "on the same input and bits it did something else, so its law was not taken from them",
            )
    if report is None or (report.verdict == NOTHING and takes(mechanism, "entropy") and not _told_all(report)):
        function = _function(mechanism)
        report = _sampled(function, name_of(mechanism), pairs, claim, limits, shrink)
    return replace(report, notes=(*report.notes, *replayed), seconds=time.monotonic() - begun)


def _replayed(mechanism: Any, pairs: Sequence[Pair], until: float) -> Iterator[str]:
    """What a plain function does otherwise on a neighbour while its mechanisms give the same (audit/replay.py).

    Certain, but of the code and not of a chance, so a note and no verdict. What is random by itself tells nothing here.
    """
    if own(mechanism) or isinstance(mechanism, ExactLaw) or takes(mechanism, "entropy") or takes(mechanism, "size"):
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
    if own(mechanism) and hasattr(mechanism, "release"):
        return lambda data: mechanism.release(data)
    if not callable(mechanism):
        raise Refusal("There is nothing to audit.", cure="Give a mechanism with `release`, or a function of the data.")
    if takes(mechanism, "entropy") and not takes(mechanism, "size"):
        return lambda data: mechanism(data, entropy=SystemEntropy())
    return mechanism  # type: ignore[no-any-return]


def _silent(what: str, done: int, of: int) -> None:
    pass


def name_of(mechanism: Any) -> str:
    named = getattr(mechanism, "__name__", None) or type(mechanism).__name__
    return "the function" if named == "<lambda>" else str(named)


def _exactly(
    law_of: LawOf, name: str, pairs: Sequence[Pair], claim: Claim | None, limits: Limits, shrinking: bool
) -> Report | None:
    """Every pair by its laws; None where the laws of dpcurator's own mechanism are not for such inputs."""
    looked_for = Pure(0) if claim is None else claim
    findings: list[Finding] = []
    unexplored, tried, picture = Fraction(0), 0, None
    first_seen: dict[int, tuple[Law, Law]] = {}
    answered = False

    def look(pair: Pair, number: int = 0) -> tuple[list[Finding], tuple[Law, Law]]:
        seconds = limits.left / 4
        laws = (
            guarded(law_of, pair.first, pair.second, seconds),
            guarded(law_of, pair.second, pair.first, seconds),
        )
        return compare(pair, laws, looked_for), laws

    for place, pair in enumerate(pairs):
        if tried and limits.left <= 0:
            break
        found, laws = look(pair)
        first_seen[id(pair)] = laws
        answered = answered or any(not isinstance(outcome, Raised) for law in laws for outcome in law)
        tried, unexplored = tried + 1, max(unexplored, *map(rest, laws))
        findings += found
        limits.tell("comparing laws", place + 1, len(pairs))
        if claim is not None and any(one.at_least > claim.parameter for one in found):
            break
    findings.sort(key=lambda one: (-one.at_least, -one.p))
    verdict = CERTAIN if claim is not None and findings and findings[0].at_least > claim.parameter else NOTHING
    found_on = None
    if not answered and verdict == NOTHING and tried and not unexplored:
        raise _always(next(repr(outcome) for outcome in laws[0]))
    if verdict == CERTAIN:
        _steady(first_seen[id(findings[0].pair)], look(findings[0].pair)[1])
    if verdict == CERTAIN and shrinking and findings[0].pair.neighbours is not None:
        assert claim is not None
        limit = claim.parameter

        def test(pair: Pair, number: int) -> Finding | None:
            found, laws = look(pair)
            best = max(found, key=lambda one: one.at_least)
            if best.at_least <= limit:
                return None
            _steady(laws, look(pair)[1])
            return best

        smaller, _ = smaller_witness(findings[0].pair, test, until=limits.until)
        if smaller is not None:
            found_on, findings = findings[0].pair, [smaller, *findings]
    notes = []
    if unexplored > Fraction(1, 10**6):
        notes.append(f"outcomes of chance {float(unexplored):.3g} in all were not listed; nothing is said of them")
    if findings:
        picture = bars_of_laws(look(findings[0].pair)[1], findings[0])
    return Report(
        verdict, name, claim, tuple(findings[:8]), "exact", Fraction(0), 0, 0, 0.0, tried,
        getattr(claim, "delta", Fraction(0)), looked_for.measure, found_on, tuple(notes),
        picture,
    )  # fmt: skip


class Unsteady(Exception):
    """A function gave two laws on one input."""


def _steady(before: tuple[Law, Law], after: tuple[Law, Law]) -> None:
    """Nothing is certain of laws that come out otherwise the next time."""
    if any(map(unsteady, before, after)):
        raise Unsteady


def _always(what: str) -> Refusal:
    return Refusal(
        f"On every input tried it does nothing but {what.replace('raising', 'raise')}.",
        cure="Call it once by hand: it takes the data alone, or the data with size or entropy.",
    )


def _told_all(report: Report) -> bool:
    return not report.notes


def _sampled(
    function: Callable[..., Any], name: str, pairs: Sequence[Pair], claim: Claim | None, limits: Limits, shrinking: bool
) -> Report:
    looked_for = Pure(0) if claim is None else claim
    sampler = Sampler(function, until=limits.until + 0.25 * limits.left + 1)
    findings: list[Finding] = []
    events: dict[str, Candidate] = {}
    searched, counted, round_, pairs_tried = 0, 0, 0, 0
    verdict, found_on, notes, smaller = NOTHING, None, [], None
    try:
        for candidates, close, looked_at in _looks(sampler, pairs, looked_for, claim, limits):
            round_, pairs_tried, searched = round_ + 1, looked_at, max(searched, close)
            share = limits.alpha / 2 ** (round_ + 1)
            found, draws = _counted(sampler, candidates, share, looked_for, limits)
            findings, counted = [*findings, *found], max(counted, draws)
            events |= {one.event: candidate for one, candidate in zip(found, candidates, strict=True)}
            if claim is not None and any(claim.contradicted(one.p, one.q) for one in found):
                verdict = FOUND
                break
    except OutOfTime:
        notes.append("it is too slow for the time: what was begun last was not counted to its end, and says nothing")
    findings.sort(key=telling, reverse=True)
    if verdict == NOTHING and not sampler.answered and sampler.raised:
        raise _always(f"raising {sampler.raised}")
    if verdict == FOUND:
        told = next(one for one in findings if claim is not None and claim.contradicted(one.p, one.q))
        _same_apart(sampler, told, events[told.event][1], limits.left / 8)
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
    seen = events.get(findings[0].event) if findings else None
    picture = None if seen is None else _bars(sampler, seen, counted)
    return Report(
        verdict, name, claim, tuple(findings), "black box", limits.alpha, counted, searched, 0.0, pairs_tried,
        getattr(claim, "delta", Fraction(0)), looked_for.measure, found_on, tuple(notes),
        picture,
    )  # fmt: skip


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
    sampler: Sampler, claim: Claim, limits: Limits, draws: int, seen: dict[str, Candidate]
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
        seen.update({one.event: (pair, event) for one, event in zip(found, events, strict=True)})
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
        )  # fmt: skip
    return found, draws
