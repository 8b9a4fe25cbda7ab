"""diffprivlib: its choices and reports, at what they are built for."""

from collections.abc import Iterator
from typing import Any

from peer import Row, audited, diffprivlib

import dpcurator as dp


def rows() -> Iterator[Row]:
    made = diffprivlib().mechanisms
    for name in ("Exponential", "PermuteAndFlip"):
        choice = lambda scores, n=name: getattr(made, n)(epsilon=1, sensitivity=1, utility=scores).randomise()  # noqa: E731
        yield f"mechanisms.{name}", audit(choice, ([0.0, 0.0], [1.0, -1.0]))
    coin = made.Binary(epsilon=1, value0="no", value1="yes")
    yield "mechanisms.Binary", audit(lambda value: coin.randomise(value), ("no", "yes"))
    for name in ("Geometric", "GeometricTruncated"):
        bounds = {"lower": 0, "upper": 5} if name == "GeometricTruncated" else {}
        noise = getattr(made, name)(epsilon=1, sensitivity=1, **bounds)
        yield f"mechanisms.{name}", audit(lambda value, n=noise: n.randomise(value), (1, 2))


def audit(release: Any, pair: Any) -> Any:
    return audited(dp.audit(release, pair=pair, claim=dp.Pure(1), samples=20_000))
