"""The two laws side by side, as bars for plots/witness.py: by outcome where these are few, else by bins of a number.

The bars of a black-box report are drawn from a few thousand further draws, which nothing is claimed of.
Checked in tests/audit/test_report.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from dpcurator.auditing.copies import printed
from dpcurator.auditing.draws.features import Keyed, Ordered
from dpcurator.auditing.exact.divergences import Law
from dpcurator.auditing.pairs import Pair
from dpcurator.auditing.report import Bar, Finding

if TYPE_CHECKING:
    from dpcurator.auditing.draws.blackbox import Sampler
    from dpcurator.auditing.draws.search import Event

_BARS, _DRAWS = 24, 20_000


def bars_of_laws(laws: tuple[Law, Law], found: Finding) -> tuple[Bar, ...]:
    """The likeliest outcomes: numbers in their order, others in that of the laws."""
    one, other = laws
    outcomes = list(dict.fromkeys([*one, *other]))
    chances = {x: [float(law[x].lo) if x in law else 0.0 for law in laws] for x in outcomes}
    kept = set(sorted(outcomes, key=lambda x: -max(chances[x]))[:_BARS])
    inside = set(found.outcomes)
    return _in_order(
        Bar(printed(x)[:40], chances[x][0], chances[x][1], float(x in inside)) for x in outcomes if x in kept
    )


def bars_of_draws(sampler: Sampler, pair: Pair, event: Event, *, counted: int) -> tuple[Bar, ...]:
    """Of some further draws of both inputs, at most a tenth of what was counted."""
    import numpy as np

    size = max(50, min(_DRAWS, counted // 10))
    drawn = [sampler.draw(data, size) for data in (pair.first, pair.second)]
    holds = [np.asarray(event.holds(one)) for one in drawn]
    values = [event.feature.of(one) for one in drawn]
    if isinstance(event.feature, Ordered):
        both = np.concatenate(values)
        both = both[np.isfinite(both)]
        if not both.size:
            return ()
        low, high = (float(x) for x in np.quantile(both, [0.005, 0.995]))
        edges = np.linspace(low, high if high > low else low + 1, _BARS + 1)
        places = [np.clip(np.searchsorted(edges, one, side="right") - 1, 0, _BARS - 1) for one in values]
        labels = [f"{edge:.4g}" for edge in edges[:-1]]
        keys: list[Any] = list(range(_BARS))
    else:
        assert isinstance(event.feature, Keyed)
        counts = Counter(int(key) for one in values for key in one)
        keys = [key for key, _ in counts.most_common(_BARS)]
        places, labels = values, []
        for key in keys:
            side = 0 if (values[0] == key).any() else 1
            labels.append(event.feature.say(drawn[side], int(np.flatnonzero(values[side] == key)[0]))[:40])
    bars = []
    for key, label in zip(keys, labels, strict=True):
        hits = [place == key for place in places]
        total = sum(int(hit.sum()) for hit in hits)
        inside = sum(int((hit & held).sum()) for hit, held in zip(hits, holds, strict=True))
        means = [float(hit.mean()) for hit in hits]
        bars.append(Bar(label, means[0], means[1], inside / total if total else 0.0))
    return _in_order(bars)


def _in_order(bars: Iterable[Bar]) -> tuple[Bar, ...]:
    """Numbers from the least to the greatest; anything else as it comes."""
    made = tuple(bars)
    try:
        return tuple(sorted(made, key=lambda bar: float(bar.label)))
    except ValueError:  # no numbers
        return made
