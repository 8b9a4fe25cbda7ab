"""Bins of equal width: BIN(x, width) and WIDTH_BUCKET(x, low, high, count), in words that rows already have.

    BIN(x, w)                  FLOOR(x / w) * w, the lower end of the bin
    WIDTH_BUCKET(x, a, b, n)   0 below a, n + 1 from b on, and between them 1 to n: a CASE over the n + 1 edges

The numbers of buckets are constants, so that they are public whatever x is, and x needs no bounds. An edge that is no
decimal fraction is rounded to a 10^20th of a bucket. Checked in tests/fronts/test_bins.py.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpcurator.errors import Refusal
from dpcurator.language.question import Binary, Branch, Call, Case, Literally, Syntax, Unary

MOST_BUCKETS: Final = 100
_AS: Final = "WIDTH_BUCKET(age, 0, 100, 10)"
_BETWEEN: Final = 10**20  # of a bucket, to which edges are rounded


def bin_of(parts: tuple[Syntax, ...], at: str = "", *, example: str = "BIN(age, 10)") -> Syntax:
    """The lower end of the bin of parts[0] that is parts[1] wide. Raises Refusal."""
    width = _number(parts[1]) if len(parts) == 2 else None
    if width is None or width <= 0:
        raise Refusal("BIN takes a value and a width above 0.", where=at, cure=f"Write it as in {example}.")
    return Binary("*", Call("FLOOR", (Binary("/", parts[0], Literally(width)),), at=at), Literally(width))


def width_bucket(parts: tuple[Syntax, ...], at: str = "", *, example: str = _AS) -> Syntax:
    """The number of the bucket that parts[0] is in, of parts[3] between parts[1] and parts[2]. Raises Refusal."""
    low, high, count = map(_number, parts[1:]) if len(parts) == 4 else (None, None, None)
    if low is None or high is None or count is None or low >= high or count.denominator != 1:
        raise Refusal(
            "WIDTH_BUCKET takes a value, the lower and the upper end, and how many buckets there are between them.",
            where=at, cure=f"Write it as in {example}.",
        )
    if not 1 <= count <= MOST_BUCKETS:
        raise Refusal(
            f"WIDTH_BUCKET makes 1 to {MOST_BUCKETS} buckets.", where=at,
            cure=f"Write it as in {example}; BIN(x, width) makes more, within declared bounds.",
        )
    x, width = parts[0], (high - low) / count
    unit = 10 ** max(0, len(str(int(_BETWEEN / width))))
    edges = [low + k * width for k in range(int(count) + 1)]
    below = [Branch(Binary("<", x, Literally(_decimal(edge, unit))), _given(k)) for k, edge in enumerate(edges)]
    return Case((*below, Branch(Unary("NOT", Unary("IS NULL", x)), _given(len(edges)))))


def _given(number: int) -> Literally:
    return Literally(Fraction(number))


def _decimal(edge: Fraction, unit: int) -> Fraction:
    """The edge itself where it is a decimal fraction."""
    left = edge.denominator
    for factor in (2, 5):
        while left % factor == 0:
            left //= factor
    return edge if left == 1 else Fraction(round(edge * unit), unit)


def _number(part: Syntax) -> Fraction | None:
    """A literal number."""
    value = part.value if isinstance(part, Literally) and part.type is None else None
    return value if isinstance(value, Fraction) else None
