"""The sensitivity of any function, by trying every pair of neighbouring datasets of a finite domain.

Definition  The greatest distance |f(x) - f(y)| (l1, l2 or linf) over neighbours x, y made of rows of the domain. It is
            infinite when f has no finite value on some dataset: it raises, divides by 0, or gives nan or an infinity.
Promise     Exact for ints, Fractions, Decimals and floats (a float is the dyadic it is), enclosed for enclosures. It
            says nothing of rows outside the domain, so a claim for a longer list is not proved by a shorter one.
Proof       By enumeration (`neighbours`). For numbers and for linf a group's greatest distance is the greatest less
            the least, coordinate by coordinate; for l1 and l2 every pair is taken.
Checked     tests/sensitivity/test_checking.py.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, decimal_text, rational, whole
from dpcurator.numbers.rational import Spelled
from dpcurator.numbers.readable import readable
from dpcurator.sensitivity.exactly import DISTANCES, Vector, distance, ends, finite, root
from dpcurator.sensitivity.neighbours import Index, bases, how_many, relation, with_row
from dpcurator.sensitivity.progress import Progress, telling

_MOST = 5_000_000  # datasets


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found. `witness`: the pair of datasets that are farthest apart, or None where all are equal.

    `bracket` encloses the sensitivity (for l2 its square), and is None when that is infinite. `complete` is False when
    time ran out: then the sensitivity is at least what is said here.
    """

    name: str
    neighbours: str
    distance: str
    bracket: Enclosure | None
    witness: tuple[tuple[Any, ...], tuple[Any, ...]] | None
    claim: Fraction | None
    pairs: int
    complete: bool
    why: str = ""

    __repr__ = readable

    @property
    def sensitivity(self) -> Fraction | float:
        """The sensitivity: exact where it is rational, else rounded up; math.inf where infinite."""
        if self.bracket is None:
            return math.inf
        return root(self.bracket.hi).hi if self.distance == "l2" else self.bracket.hi

    @property
    def squared(self) -> Fraction | float:
        """The square of `sensitivity`; for l2 of rationals it is exact where the root is not."""
        if self.bracket is None:
            return math.inf
        return self.bracket.hi if self.distance == "l2" else self.bracket.hi**2

    @property
    def holds(self) -> bool | None:
        """Is the claim true of this domain? None: there is no claim, or time or the brackets leave a doubt."""
        if self.claim is None:
            return None
        if self.bracket is None:
            return False
        claim = self.claim**2 if self.distance == "l2" else self.claim
        if self.bracket.lo > claim:
            return False
        return True if self.complete and self.bracket.hi <= claim else None

    def __str__(self) -> str:
        moved = "one row is replaced" if self.neighbours == "replace-one" else "one row is added or removed"
        found = self.sensitivity
        if isinstance(found, float):
            return f"{self.name} has infinite sensitivity when {moved}: {self.why}, on one of {_shown(self.witness)}."
        number = decimal_text(found)
        said = (
            f"{self.name} moves by {'up to' if self.complete else 'at least'} {number} ({self.distance}) when {moved}"
        )
        if self.witness is not None:
            said += f", as between {_shown(self.witness)}"
        tried = f"All {self.pairs:,} neighbouring pairs were tried."
        if not self.complete:
            tried = f"Time ran out after {self.pairs:,} neighbouring pairs, so nothing is proved."
        verdict = {True: " The claim holds.", False: " The claim is false.", None: ""}[self.holds]
        return f"{said}. {tried}{verdict}"


def _shown(witness: tuple[tuple[Any, ...], tuple[Any, ...]] | None) -> str:
    texts = [repr(one) for one in witness or ()]
    return " and ".join(text if len(text) <= 200 else f"{text[:197]}..." for text in texts)


def check_sensitivity(
    f: Callable[[tuple[Any, ...]], Any],
    *,
    domain: Sequence[Any],
    n: int,
    neighbours: str,
    distance: str = "l1",
    claim: Spelled | None = None,
    ordered: bool = True,
    least: int = 0,
    seconds: Spelled | None = 60,
    progress: Progress | bool | None = None,
) -> Checked:
    """The largest change of a function between neighbouring datasets of a small domain, with a pair that attains it.

    Every dataset of at most n rows of `domain` is tried against every neighbour of it: a proof for these datasets, and
    nothing said of others.

    Parameters:
        f: takes a tuple of rows, gives a number or a sequence of numbers.
        domain: the rows that a dataset may be made of.
        n: int >= 1, the number of rows (replace-one), or the largest (add-remove, from `least` up).
        neighbours: "add-remove" or "replace-one".
        distance: "l1", "l2" or "linf"; of one number all are alike.
        claim: number, a sensitivity to look for a counterexample to; None for the largest change.
        ordered: False says that f does not depend on the order of rows, which is believed and saves a factor up to n!.
        least: int >= 0, the smallest number of rows under add-remove.
        seconds: number > 0, the time to take; None for all it needs.
        progress: called with (done, of how many); True shows a bar, False none, None shows one on a terminal.

    Raises Refusal for what is no such question, and for more than 5,000,000 datasets.

    >>> import dpcurator as dp
    >>> found = dp.check_sensitivity(max, domain=[0, 3, 10], n=3, neighbours="replace-one", progress=False)
    >>> found.sensitivity
    Fraction(10, 1)

    Source: the definition of global sensitivity, Dwork, McSherry, Nissim, Smith 2006.
    """
    rows, relate = tuple(domain), relation(neighbours)
    size, smallest = whole(n, name="n", least=1), whole(least, name="least")
    limit = None if seconds is None else rational(seconds, name="seconds")
    wanted = None if claim is None else rational(claim, name="claim")
    if distance not in DISTANCES:
        raise Refusal("distance must be l1, l2 or linf.", cure='Write distance="l1"; for one number all are alike.')
    if not rows:
        raise Refusal("domain has no rows.", cure="List the rows that a dataset may be made of.")
    if not callable(f):
        raise Refusal(
            "f must be a function of a tuple of rows.", cure="Pass a function, as in check_sensitivity(sum, ...)."
        )
    if smallest >= size and relate == "add-remove":
        raise Refusal("least must be below n.", cure="Neighbours differ in their number of rows by one.")
    sizes = [size] if relate == "replace-one" else list(range(smallest, size + 1))
    total = sum(how_many(one, len(rows), ordered=ordered) for one in sizes)
    if total > _MOST:
        cure = "Take fewer rows or a smaller domain" + (", or ordered=False if f is symmetric." if ordered else ".")
        raise Refusal(f"There are {total:,} datasets to try, more than {_MOST:,}.", cure=cure)
    search = _Search(f, rows, relate, distance, ordered)
    starts = [size - 1] if relate == "replace-one" else sizes[:-1]
    work = sum(how_many(one, len(rows), ordered=ordered) for one in starts)
    begun, done, complete, shown = time.monotonic(), 0, True, 0.0
    with telling(progress, work, "neighbouring datasets") as told:
        for start in starts:
            for base in bases(start, len(rows), ordered=ordered):
                passed = time.monotonic() - begun
                if search.infinite or (limit is not None and passed > limit):
                    complete = search.infinite
                    break
                for group in with_row(base, len(rows), ordered=ordered):
                    search.group(base, group)
                done += 1
                if passed > shown or done == work:
                    told(done, work)
                    shown = passed + 0.1
            else:
                continue
            break
    return Checked(
        getattr(f, "__name__", type(f).__name__).replace("<lambda>", "f"), relate, distance,
        None if search.infinite else Enclosure(search.lo, search.hi), search.witness(), wanted, search.pairs, complete,
        search.why,
    )


class _Search:
    """The state of one enumeration: the values found so far, the greatest distance, and who attains it."""

    def __init__(
        self, f: Callable[[tuple[Any, ...]], Any], rows: tuple[Any, ...], relate: str, kind: str, ordered: bool
    ) -> None:
        self.f, self.rows, self.relate, self.kind, self.ordered = f, rows, relate, kind, ordered
        self.values: dict[Index, Vector | None] = {}
        self.lo = self.hi = Fraction(0)
        self.pair: tuple[Index, Index] | None = None
        self.pairs, self.infinite, self.why = 0, False, ""

    def dataset(self, index: Index) -> tuple[Any, ...]:
        return tuple(self.rows[place] for place in index)

    def witness(self) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
        return None if self.pair is None else (self.dataset(self.pair[0]), self.dataset(self.pair[1]))

    def value(self, index: Index) -> Vector | None:
        if index not in self.values:
            try:
                result = self.f(self.dataset(index))
            except Exception as error:  # whatever the function raises: it has no value there
                self.why, found = f"it raises {type(error).__name__}", None
            else:
                found = finite(result)
                if found is None:
                    self.why = "it gives nan or an infinity"
            self.values[index] = found
        return self.values[index]

    def group(self, base: Index, group: list[Index]) -> None:
        """Every pair of the group (replace-one), or of the base and one of the group (add-remove)."""
        members = group if self.relate == "replace-one" else [base, *group]
        found = [(index, self.value(index)) for index in members]
        known = [(index, vector) for index, vector in found if vector is not None]
        lengths = {len(vector) for _, vector in known}
        if len(known) < len(found) or len(lengths) > 1:
            self.infinite = True
            self.why = self.why or "it gives vectors of different lengths"
            self.pair = self._apart(found)
        elif self.relate == "replace-one":
            self.pairs += len(known) * (len(known) - 1) // 2
            if self.kind == "linf" or lengths == {1}:
                self._spread(known)
            else:
                for (one, a), (other, b) in combinations(known, 2):
                    self._seen(one, other, distance(a, b, self.kind))
        else:
            self.pairs += len(known) - 1
            one, a = known[0]
            for other, b in known[1:]:
                self._seen(one, other, distance(a, b, self.kind))

    def _apart(self, found: list[tuple[Index, Vector | None]]) -> tuple[Index, Index]:
        """A neighbouring pair of which the first has no value, or a length of its own."""
        lacking = next((index for index, vector in found if vector is None), None)
        if lacking is None:
            lengths = {len(vector): index for index, vector in found if vector is not None}
            one, other, *_ = lengths.values()
            return one, other
        others = [index for index, _ in found if index != lacking]
        if self.relate == "add-remove" and found[0][0] != lacking:
            return lacking, found[0][0]
        return lacking, (others or [lacking])[0]

    def _spread(self, known: list[tuple[Index, Vector]]) -> None:
        """max over coordinates of (greatest - least). The bracket: the ends taken apart hold every pair."""
        for column in zip(*(vector for _, vector in known), strict=True):
            brackets = [ends(value) for value in column]
            top = max(range(len(column)), key=lambda place: brackets[place][0])
            low = min(range(len(column)), key=lambda place: brackets[place][1])
            most = max(hi for _, hi in brackets) - min(lo for lo, _ in brackets)
            sure = max(brackets[top][0] - brackets[low][1], 0)
            if self.kind == "l2":
                most, sure = most * most, sure * sure
            self._seen(known[top][0], known[low][0], Enclosure(Fraction(sure), Fraction(most)))

    def _seen(self, one: Index, other: Index, gap: Enclosure) -> None:
        if gap.lo > self.lo or (self.pair is None and gap.lo > 0):
            self.lo, self.pair = gap.lo, (one, other)
        self.hi = max(self.hi, gap.hi)


def every(n: int, domain: Sequence[Any], *, ordered: bool = False) -> Iterator[tuple[Any, ...]]:
    """Every dataset of n rows of the domain."""
    for index in bases(n, len(domain), ordered=ordered):
        yield tuple(domain[place] for place in index)
