"""Outcomes of any shape as columns: what features are computed from.

Definition  An outcome is flattened into parts: a list, tuple, array or dict into its items, anything else into one.
            A part that is an ordinary number has its value, as a double, and mark 0; any other has a mark: nan, the
            infinities, absent (a shorter outcome), or the label of a text, None, True, an exception's type, ...
Promise     The same outcome has the same columns in every lot of draws of one audit. Nothing is dropped: whatever an
            outcome is, some mark, value or length tells of it. An int is rounded to a double.
Checked     tests/audit/test_outcomes.py.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcurator.auditing.copies import printed
from dpcurator.errors import Refusal

if TYPE_CHECKING:
    from numpy.typing import NDArray

ABSENT, NAN, INFINITY, MINUS_INFINITY = -1, -2, -3, -4
NAMES = {ABSENT: "nothing", NAN: "nan", INFINITY: "infinity", MINUS_INFINITY: "-infinity"}
_MOST = 512  # parts of an outcome that are looked at; the rest is lengths alone
_BLOCK = 8192  # numbers marked at a time


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception as an outcome: the name of its type."""

    kind: str

    def __repr__(self) -> str:
        return f"raising {self.kind}"


@dataclass(slots=True)
class Labels:
    """Numbers for what is no number, the same for all lots of one audit: 1, 2, ... in order of first sight."""

    numbers: dict[str, int] = field(default_factory=dict)
    names: list[str] = field(default_factory=lambda: [""])

    def number(self, part: Any) -> int:
        full = part if isinstance(part, str) else printed(part)
        key = (
            f"{isinstance(part, str)} {full}"
            if len(full) <= 80
            else hashlib.sha256(full.encode("utf-8", "surrogatepass")).hexdigest()
        )
        if key not in self.numbers:
            name = repr(full) if isinstance(part, str) else full
            self.numbers[key] = len(self.names)
            self.names.append(name if len(name) <= 80 else f"{name[:77]}...")
        return self.numbers[key]

    def name(self, mark: int) -> str:
        return NAMES.get(mark) or self.names[mark]


@dataclass(frozen=True, slots=True)
class Drawn:
    """n draws. values: float64, shape (n, parts), nan where the part is no number. marks: int32 of that shape, or None
    where all are 0. lengths: int64, or None where all outcomes have `parts` parts."""

    values: NDArray[np.float64]
    marks: NDArray[np.int32] | None
    lengths: NDArray[np.int64] | None
    labels: Labels
    single: bool  # an outcome is one number, not a list of them

    @property
    def n(self) -> int:
        return int(self.values.shape[0])

    @property
    def parts(self) -> int:
        return int(self.values.shape[1])

    def part(self, i: int) -> NDArray[np.float64]:
        return self.values[:, i] if i < self.parts else np.full(self.n, np.nan)

    def mark(self, i: int) -> NDArray[np.int32]:
        if i >= self.parts:
            return np.full(self.n, ABSENT, dtype=np.int32)
        return np.zeros(self.n, dtype=np.int32) if self.marks is None else self.marks[:, i]

    def where(self, i: int) -> str:
        """Part i in words."""
        return "the outcome" if self.single else f"part {i}"


def encode(outcomes: Any, labels: Labels, size: int) -> Drawn:
    """`size` outcomes: an array whose first axis they are, or a sequence of them."""
    if hasattr(outcomes, "to_numpy"):  # a data frame or series
        outcomes = outcomes.to_numpy()
    if isinstance(outcomes, np.ma.MaskedArray):
        outcomes = outcomes.filled(np.nan) if outcomes.dtype.kind == "f" else outcomes.tolist()
    if not isinstance(outcomes, np.ndarray):
        if not hasattr(outcomes, "__iter__") or isinstance(outcomes, str | dict):
            raise Refusal("A function of `size` gave no list of outcomes.", cure="Return an array or a list of them.")
        outcomes = _quick(list(outcomes))
    if len(outcomes) != size:
        raise Refusal(
            f"A function of `size` was asked for {size:,} outcomes, and gave {len(outcomes):,}.",
            cure="Return an array or a list whose first axis is the draws.",
        )
    if isinstance(outcomes, np.ndarray) and outcomes.dtype.kind in "fiu":
        return _numbers(outcomes.reshape(size, -1)[:, :_MOST], labels, outcomes.ndim == 1)
    if isinstance(outcomes, np.ndarray) and outcomes.dtype.kind == "b":
        flat = outcomes.reshape(size, -1)[:, :_MOST]
        yes, no = labels.number(True), labels.number(False)
        marks = np.where(flat, yes, no).astype(np.int32)
        return Drawn(np.full(flat.shape, np.nan), marks, None, labels, outcomes.ndim == 1)
    if isinstance(outcomes, np.ndarray):
        outcomes = outcomes.tolist()
    return _parts(outcomes, labels)


def _quick(outcomes: list[Any]) -> Any:
    """A list of floats, of ints, or of tuples of one length of floats alone, as an array; anything else as it is."""
    kinds = set(map(type, outcomes))
    if kinds <= {float, np.float64} or kinds in ({bool}, {np.bool_}):
        return np.array(outcomes)
    if kinds == {int} and max(map(abs, outcomes), default=0) < 2**62:
        return np.array(outcomes)
    if kinds == {np.ndarray} and len({(one.shape, one.dtype.kind) for one in outcomes}) == 1:
        return np.stack(outcomes)
    if kinds in ({tuple}, {list}) and len(set(map(len, outcomes))) == 1:
        inner = {type(part) for one in outcomes for part in one}
        if inner and inner <= {float, np.float64}:
            return np.array(outcomes)
    return outcomes


def _numbers(values: Any, labels: Labels, single: bool) -> Drawn:
    made = np.array(values, dtype=np.float64, order="C")  # a copy: a function may fill the same array again
    if np.isfinite(made).all():
        return Drawn(made, None, None, labels, single)
    marks = np.empty(made.shape, dtype=np.int32)
    of_nan, rows = np.array([math.nan]).view(np.int64)[0], max(1, _BLOCK // made.shape[1])
    for at in range(0, len(made), rows):  # few enough for the cache, and without a branch
        block = made[at : at + rows]
        code = np.isnan(block).view(np.int8) * np.int8(NAN)
        code += (block == np.inf).view(np.int8) * np.int8(INFINITY)
        code += (block == -np.inf).view(np.int8) * np.int8(MINUS_INFINITY)
        marks[at : at + rows] = code
        bits, other = block.view(np.int64), -(code != 0).astype(np.int64)
        bits |= other
        bits &= of_nan | ~other  # what is no number is one and the same nan, to the bit
    return Drawn(made, marks, None, labels, single)


def _parts(outcomes: Sequence[Any], labels: Labels) -> Drawn:
    flat: list[list[Any]] = []
    single = True
    for outcome in outcomes:
        if isinstance(outcome, list | tuple | dict | np.ndarray | set | frozenset):
            single = False
            one: list[Any] = []
            _flatten(outcome, one)
            flat.append(one)
        else:
            flat.append([outcome])
    lengths = np.array([len(one) for one in flat], dtype=np.int64)
    wide = max(1, min(_MOST, int(lengths.max(initial=0))))
    values = np.full((len(flat), wide), np.nan)
    marks = np.full((len(flat), wide), ABSENT, dtype=np.int32)
    known: dict[tuple[type, Any], tuple[float, int]] = {}
    for row, one in enumerate(flat):
        for column, part in enumerate(one[:wide]):
            if type(part) is float and math.isfinite(part):
                values[row, column], marks[row, column] = part, 0
                continue
            try:
                key = (type(part), part)
                found = known.get(key)
                if found is None:
                    found = known[key] = _part(part, labels)
            except Exception:  # what cannot be hashed or compared
                found = _part(part, labels)
            values[row, column], marks[row, column] = found
    same = bool((lengths == wide).all())
    return Drawn(values, marks if marks.any() else None, None if same else lengths, labels, single)


def _flatten(outcome: Any, into: list[Any]) -> None:
    if isinstance(outcome, Mapping):
        outcome = [part for key in sorted(outcome, key=repr) for part in (key, outcome[key])]
    elif isinstance(outcome, set | frozenset):
        outcome = sorted(outcome, key=repr)
    elif hasattr(outcome, "tolist"):
        outcome = outcome.tolist()
        outcome = outcome if isinstance(outcome, list) else [outcome]
    for part in outcome:
        if isinstance(part, list | tuple | dict | set | frozenset) or bool(getattr(part, "ndim", 0)):
            _flatten(part, into)
        else:
            into.append(part)


def _part(part: Any, labels: Labels) -> tuple[float, int]:
    """(value, mark)."""
    plain = part.item() if hasattr(part, "item") and getattr(part, "ndim", 1) == 0 else part
    if isinstance(plain, bool) or not isinstance(plain, int | float | Fraction | Decimal):
        return math.nan, labels.number(plain)
    try:
        value = float(plain)
    except OverflowError:
        value = math.inf if plain > 0 else -math.inf
    except ValueError:  # a signalling nan
        value = math.nan
    if math.isfinite(value):
        return value, 0
    return math.nan, NAN if math.isnan(value) else INFINITY if value > 0 else MINUS_INFINITY


def nothing_else(what: str) -> Refusal:
    """For a function that does the same on every input."""
    return Refusal(
        f"On every input tried it does nothing but {what.replace('raising', 'raise')}.",
        cure="Call it once by hand: it takes the data alone, or the data with size or entropy.",
    )
