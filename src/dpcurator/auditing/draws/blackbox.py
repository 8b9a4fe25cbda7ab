"""Draws: events are chosen on one part of them and counted on the other, both ways round.

Definition  `Sampler` draws outcomes of the audited function on one input: in lots where it takes `size`, else one by
            one. `count` counts m chosen events on fresh draws of both inputs; each count is bounded at alpha / (2 m).
Promise     All bounds of one call of `count` hold together, but for chance alpha, if the draws are independent and of
            one law for each input. How many are counted was fixed before the first of them was drawn.
Proof       Each of the 2 m limits fails with chance at most alpha/(2m) (auditing/draws/bound.py), whatever the events,
            since these were chosen from other draws. The union bound.
Weaker      A function that keeps state from call to call, or that notices that it is watched, has no law to bound.
Checked     tests/audit/test_blackbox.py.
"""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from dpcurator.auditing.claims import Claim
from dpcurator.auditing.copies import fresh, kept
from dpcurator.auditing.draws.bound import lower, upper
from dpcurator.auditing.draws.search import Event
from dpcurator.auditing.outcomes import Drawn, Labels, Raised, encode
from dpcurator.auditing.pairs import Pair
from dpcurator.auditing.report import Finding

LOT = 250_000  # outcomes drawn at a time
Told = Callable[[int, int], None]


def takes(function: Any, name: str) -> bool:
    """Has the function a parameter of this name?"""
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


class OutOfTime(Exception):
    """The draws that were begun do not fit into the time."""


class Sampler:
    """Draws of one function; `labels` are shared by all of an audit.

    until: the moment from which draws raise OutOfTime. answered: did any draw end without an exception?
    """

    def __init__(self, function: Callable[..., Any], *, lots: bool | None = None, until: float = math.inf) -> None:
        self.function, self.labels, self.until, self.answered = function, Labels(), until, False
        self.raised = ""
        self.lots = takes(function, "size") if lots is None else lots

    def draw(self, data: Any, size: int) -> Drawn:
        """`size` outcomes. An exception is an outcome; in a lot that raises, each draw is tried by itself."""
        if not self.lots:
            return self._several(self._one, data, size)
        self._in_time()
        try:
            outcomes = self.function(fresh(data)(), size=size)
        except (Exception, SystemExit):
            return self._several(self._alone, data, size)
        self.answered = True
        return encode(outcomes, self.labels, size)

    def alone(self, data: Any, size: int) -> Drawn:
        """Draws made one by one, also where the function takes `size`."""
        return self._several(self._alone if self.lots else self._one, data, size)

    def _several(self, one: Callable[[Any], Any], data: Any, size: int) -> Drawn:
        own, outcomes = fresh(data), []
        for _ in range(size):
            self._in_time()
            try:
                outcomes.append(one(own()))
                self.answered = True
            except (Exception, SystemExit) as error:
                self.raised = type(error).__name__
                outcomes.append(Raised(self.raised))
        return encode(outcomes, self.labels, size)

    def _in_time(self) -> None:
        if time.monotonic() > self.until:
            raise OutOfTime

    def _one(self, data: Any) -> Any:
        return kept(self.function(data))

    def _alone(self, data: Any) -> Any:
        (outcome,) = list(self.function(data, size=1))
        return outcome.tolist() if hasattr(outcome, "tolist") else outcome

    def speed(self, data: Any, limit: float) -> float:
        """Draws a second. As many are drawn as are not too slow, and not as many as fit, so that a seeded function is
        the same in every run."""
        found = 0.0
        for size in (256, 4096) if self.lots else (8, 64):
            start = time.monotonic()
            self.draw(data, size)
            passed = time.monotonic() - start
            found = size / max(passed, 1e-9)
            if passed > limit / 8:
                break
        return found


def count(
    sampler: Sampler, pair: Pair, events: Sequence[Event], *, draws: int, alpha: Fraction, claim: Claim,
    told: Told = lambda done, of: None,
) -> list[Finding]:
    """One finding for each event, from `draws` fresh draws of each input."""
    hits = tally(sampler, pair, events, draws, told)
    share = alpha / (2 * max(1, len(events)))
    return [finding(pair, event, counts, draws, share, claim) for event, counts in zip(events, hits, strict=True)]


def tally(
    sampler: Sampler, pair: Pair, events: Sequence[Event], draws: int, told: Told = lambda done, of: None
) -> list[list[int]]:
    """How often each event happens in `draws` fresh draws of the first and of the second input."""
    hits = [[0, 0] for _ in events]
    done, lot = 0, LOT if sampler.lots else 2_000
    while done < draws:
        size = min(lot, draws - done)
        for side, data in enumerate((pair.first, pair.second)):
            drawn = sampler.draw(data, size)
            for event, counts in zip(events, hits, strict=True):
                counts[side] += int(event.holds(drawn).sum())
        done += size
        told(done, draws)
    return hits


def finding(pair: Pair, event: Event, counts: Sequence[int], draws: int, share: Fraction, claim: Claim) -> Finding:
    """Both limits, each wrong with chance at most `share`."""
    first, second = (counts[0], counts[1]) if event.forward else (counts[1], counts[0])
    p, q = lower(first, draws, share), upper(second, draws, share)
    direction = ("first", "second") if event.forward else ("second", "first")
    return Finding(pair, event.tell(), direction, p, q, claim.at_least(p, q), (first, second), draws)
