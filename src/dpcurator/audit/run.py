"""`audit`: from a mechanism and a claim to a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dpcurator.audit.claims import Claim
from dpcurator.audit.report import Report

Progress = Callable[[str, int, int], None]  # what is being done, done, of how many


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
    says, if it has one. samples: draws of each input that events are counted on; at most as many again are used to
    choose events. seconds: a limit; draws that do not fit are not made, and the report says how many were. confidence:
    that all the report states holds. hostile: also try rows outside the bounds. units: rows are (unit, value). shrink:
    look for a smaller witness. progress: called with (what, done, of how many). Raises Refusal for what is no such
    question.
    """
    raise NotImplementedError


def exact_law(f: Callable[[Any], Mapping[Any, Any]]) -> Any:
    """Mark f as giving the law of the outcome: {outcome: chance}, chances as ints, Fractions or Enclosures."""
    raise NotImplementedError
