"""Rows of fixed-point masses, multiplied as one large integer each: exact products, floored back to the same length.

Definition  A Row is whole numbers c_0 ... c_n-1 of unit 2**-bits, at places start ... start + n - 1.
Promise     times(a, b) has at each place the floor of the sum of a_i b_j 2**-bits over i + j = place; `trimmed` sets
            masses at the ends to 0. So no mass is ever above the true product's, and the total tells what is missing.
Proof       Kronecker: with masses that sum to at most 2**bits each, a coefficient of the product is at most 2**(2 bits)
            and fits its slot of 2 bits + 8, so the product of the two large integers holds all of them side by side.
            Cutting each slot's lowest `bits` is the floor.
Source      Kronecker substitution: Gathen, Gerhard, Modern Computer Algebra, section 8.4.
Checked     tests/accounting/test_kronecker.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """masses: uint8 array of shape (n, bits/8 + 1), little-endian; start: the first place. bits: a multiple of 8."""

    start: int
    masses: Any
    bits: int

    @classmethod
    def of(cls, start: int, masses: list[int], bits: int) -> Row:
        """From ints of at least 0 whose sum is at most 2**bits."""
        import numpy as np

        if bits % 8 or sum(masses) > 1 << bits or min(masses) < 0:
            raise ValueError("masses are at least 0 and sum to at most 1")
        wide = bits // 8 + 1
        raw = b"".join(mass.to_bytes(wide, "little") for mass in masses)
        return cls(start, np.frombuffer(raw, np.uint8).reshape(len(masses), wide), bits)

    def __len__(self) -> int:
        return len(self.masses)

    def ints(self, first: int = 0) -> list[int]:
        """The masses from an index on, as ints."""
        wide, raw = self.masses.shape[1], self.masses[first:].tobytes()
        return [int.from_bytes(raw[i : i + wide], "little") for i in range(0, len(raw), wide)]

    def total(self) -> int:
        """Their sum, exactly."""
        columns = self.masses.sum(axis=0, dtype="int64")
        return sum(int(column) << (8 * i) for i, column in enumerate(columns))

    def floats(self) -> Any:
        """The masses as doubles, of relative error about 2**-50 or of 2**-60 in all."""
        import numpy as np

        wide = self.masses.shape[1]
        powers = np.ldexp(1.0, 8 * np.arange(wide) - self.bits)
        return self.masses.astype(np.float64) @ powers

    def apart(self, stride: int) -> Row:
        """The same masses so many places apart."""
        import numpy as np

        if stride == 1:
            return self
        masses = np.zeros(((len(self) - 1) * stride + 1, self.masses.shape[1]), np.uint8)
        masses[::stride] = self.masses
        return Row(self.start * stride, masses, self.bits)

    def trimmed(self, share: float) -> Row:
        """Without the masses at either end that together are about `share` of 1, or less."""
        import numpy as np

        masses = self.floats()
        low = int(np.searchsorted(np.cumsum(masses), share / 2, side="right"))
        high = int(np.searchsorted(np.cumsum(masses[::-1]), share / 2, side="right"))
        if low + high >= len(masses):
            return self
        return Row(self.start + low, self.masses[low : len(masses) - high], self.bits)


def times(one: Row, other: Row) -> Row:
    """The product, floored."""
    import numpy as np
    from flint import fmpz

    part = one.bits // 8
    wide = 2 * part + 1
    first = _whole(one, wide)
    product = int(first * first if one is other else first * _whole(other, wide))
    count = len(one) + len(other) - 1
    raw = np.frombuffer(product.to_bytes(count * wide + 1, "little"), np.uint8)[: count * wide]
    assert isinstance(first, fmpz)
    return Row(one.start + other.start, np.ascontiguousarray(raw.reshape(count, wide)[:, part:]), one.bits)


def _whole(row: Row, wide: int) -> Any:
    import numpy as np
    from flint import fmpz

    slots = np.zeros((len(row), wide), np.uint8)
    slots[:, : row.masses.shape[1]] = row.masses
    return fmpz(int.from_bytes(slots.tobytes(), "little"))


def power(row: Row, count: int, share: float, before_each: Callable[[], None] = lambda: None) -> Row:
    """The count-th power by squaring; `share` of each factor's own mass may be trimmed. count: int >= 1.

    before_each: called before each product; it may raise, to end the work.
    """
    result: Row | None = None
    square, done = row, 1
    left = count
    while True:
        before_each()
        if left & 1:
            result = square if result is None else times(result, square).trimmed(share * (count - left + done))
        left >>= 1
        if not left:
            assert result is not None
            return result
        done *= 2
        square = times(square, square).trimmed(share * done)


def product(rows: list[Row], shares: list[float], before_each: Callable[[], None] = lambda: None) -> Row:
    """Of all rows, the shortest two first; shares: what may be trimmed at each, and together where they meet."""
    import heapq

    heap = [(len(row), i, row, share) for i, (row, share) in enumerate(zip(rows, shares, strict=True))]
    heapq.heapify(heap)
    ticket = len(heap)
    while len(heap) > 1:
        before_each()
        _, _, one, first = heapq.heappop(heap)
        _, _, other, second = heapq.heappop(heap)
        both = times(one, other).trimmed(first + second)
        heapq.heappush(heap, (len(both), ticket, both, first + second))
        ticket += 1
    return heap[0][2]
