"""The values that reports are about: declared, public, and known to every client before anybody answers.

A whole number k declares 0, 1, ..., k-1; a list declares its members in its order, which clients and aggregator must
share (so a set, which has none, is refused). Members are told apart as a dict does: 1, 1.0 and True are one value.

What a client holds may lie outside: nan, None, an unhashable thing. It becomes the declared `otherwise` (one of the
values), or is refused where none is declared. That refusal is raised on the client's own device, before anything is
sent, and may depend on the value: do not pass it on. A report that no client sends is refused on the aggregator's side
with its position, which is public, and never with what it is.
Checked in tests/mechanisms/test_public_values.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dpcurator.errors import Refusal
from dpcurator.numbers import whole
from dpcurator.numbers.coerce import unmasked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Values = tuple[Any, ...] | range


class Outside(Enum):
    """What to do with a value that was not declared, where no value stands for it."""

    REFUSED = "refused"


REFUSED = Outside.REFUSED


def declared(values: object, *, most: int) -> Values:
    """The declared values, in order: a range for a whole number, else a tuple. Raises Refusal unless 2 to `most`."""
    if hasattr(values, "tolist") and getattr(values, "ndim", 0) == 1:
        values = values.tolist()
    if isinstance(values, range) and values == range(len(values)):
        values = len(values)
    listed: Values
    if isinstance(values, Sequence) and not isinstance(values, str | bytes | bytearray):
        members = tuple(values)
        _all_distinct(members)
        listed = members
    elif isinstance(values, str | bytes | bytearray | Set | Mapping):
        raise Refusal("values must be a list in an order that everybody shares.", cure='Write values=["no", "yes"].')
    else:
        listed = range(whole(values, name="values"))
    if not 2 <= len(listed) <= most:
        raise Refusal(f"values must be 2 to {most:,}, not {len(listed):,}.", cure='Write values=["no", "yes"].')
    return listed


def _all_distinct(listed: tuple[Any, ...]) -> None:
    try:
        distinct = len(set(listed)) == len(listed) and all(bool(value == value) for value in listed)
    except (TypeError, ValueError):  # no hash, or an equality that is no truth
        distinct = False
    if not distinct:
        raise Refusal(
            "values must be distinct, hashable and equal to themselves: nan is not, and 1 and True are one.",
            cure='Write values=["no", "yes"].',
        )


def place(values: Values, value: object) -> int:
    """Where `value` stands among the values, from 0; -1 where it is none of them."""
    try:
        if isinstance(values, tuple):
            return _places(values).get(value, -1)
        hash(value)  # arrays and lists end here
        if not 0 <= value < len(values):  # type: ignore[operator]
            return -1  # before a number of any size is written out
        number = int(value)  # type: ignore[call-overload]
        return int(number) if number == value else -1
    except (TypeError, ValueError, ArithmeticError):
        return -1


def named(values: Values, value: object) -> int:
    """`place` of a value that is asked about, by anybody. Raises Refusal where it is none of them."""
    if (found := place(values, value)) < 0:
        raise Refusal("This is not among the values that are asked of.", cure="Name one of the declared values.")
    return found


@lru_cache(maxsize=64)
def _places(values: tuple[Any, ...]) -> dict[Any, int]:
    return {value: position for position, value in enumerate(values)}


def places(values: Values, given: object) -> NDArray[np.int64]:
    """`place` of each of `given`, a list or a one-dimensional array; int64. Raises Refusal for another shape."""
    import numpy as np

    given = unmasked(given)
    plain = given if isinstance(given, np.ndarray | list | tuple | range) else _listed(given)
    if isinstance(plain, np.ndarray) and plain.ndim != 1:
        raise Refusal(f"One dimension is needed here, not {plain.ndim}.", cure="Give a list, or a flat array.")
    if isinstance(values, range):
        try:
            array = np.asarray(plain)
        except (ValueError, OverflowError):
            array = np.empty(0, dtype=object)
        if array.ndim == 1 and array.dtype.kind in "biu":
            inside = (array >= 0) & (array < len(values))
            return np.where(inside, np.where(inside, array, 0).astype(np.int64), -1)
    items = plain.tolist() if isinstance(plain, np.ndarray) else plain
    return np.fromiter((place(values, item) for item in items), dtype=np.int64, count=len(items))


def _listed(given: object) -> list[Any]:
    if isinstance(given, str | bytes | bytearray | Set | Mapping) or not hasattr(given, "__iter__"):
        raise Refusal("A list or a one-dimensional array is needed here.", cure="Write [value] for a single one.")
    return list(given)


def otherwise_of(values: Values, otherwise: object) -> object:
    """`otherwise` where it is one of the values, or REFUSED. Raises Refusal for anything else."""
    if otherwise is not REFUSED and place(values, otherwise) < 0:
        raise Refusal("otherwise must be one of the values.", cure="Leave it out to have other values refused.")
    return otherwise


def settle(made: Any, *, most: int) -> Values:
    """Check what a mechanism declares, as it is made, and keep the values as they are read. Raises Refusal."""
    values = declared(made.values, most=most)
    otherwise_of(values, made.otherwise)
    object.__setattr__(made, "values", values)
    return values


def settled(values: Sequence[Any] | int) -> Values:
    """The values of a mechanism that is made."""
    if not isinstance(values, tuple | range):
        raise TypeError("the values were not settled as the mechanism was made")
    return values


def held(values: Values, given: object, otherwise: object) -> NDArray[np.int64]:
    """The client's side: places of what is held, with `otherwise` for what was not declared. Raises Refusal."""
    import numpy as np

    found = places(values, given)
    outside = found < 0
    if not outside.any():
        return found
    if otherwise is REFUSED:
        raise Refusal(
            "What is held is not among the declared values.",
            where="on the client's own device",
            cure="Nothing was sent. Declare otherwise=... for the value that then stands for it.",
        )
    return np.where(outside, place(values, otherwise), found)


def at(values: Values, chosen: NDArray[np.int64]) -> NDArray[Any]:
    """The values that stand at these places: int64 for a range, else an array of objects."""
    import numpy as np

    if isinstance(values, range):
        return chosen
    members = np.empty(len(values), dtype=object)
    members[:] = values
    return members[chosen]


def wrong_report(outside: NDArray[np.bool_]) -> Refusal:
    """Names the first report that no client sends, by its position from 0."""
    position = int(outside.argmax())
    return Refusal(
        f"Report {position} (counted from 0) is none that a client of this mechanism sends.",
        cure="Estimate with the parameters that the clients had, and leave such reports out.",
    )


def whole_reports(reports: object, *, columns: int | None) -> NDArray[np.int64]:
    """Reports as int64, shape (n,) or (n, columns); -1 for a number past int64. Raises Refusal for anything else."""
    import numpy as np

    reports = unmasked(reports)
    plain = reports if isinstance(reports, np.ndarray) else _listed(reports)
    shape = "n" if columns is None else f"n, {columns}"
    try:
        array = np.asarray(plain)
    except (ValueError, OverflowError):
        array = np.empty((), dtype=object)
    if array.size == 0 and array.ndim >= 1:
        array = np.empty((0,) if columns is None else (0, columns), dtype=np.int64)
    right = array.ndim == 1 if columns is None else array.ndim == 2 and array.shape[1] == columns
    if not right or array.dtype.kind not in "biu":
        raise Refusal(f"Reports must be whole numbers of shape ({shape}).", cure="Give what respond_many gave.")
    if array.dtype.kind == "u":
        array = np.where(array > np.iinfo(np.int64).max, 0, array).astype(np.int64) - (array > np.iinfo(np.int64).max)
    return array.astype(np.int64, copy=False)
