"""The records of a chunk of a CSV file in which nothing is odd, taken apart as a whole: by bytes, with no object per
field.

A chunk is plain when the csv module, beginning at its first line, would read one record from each line, and it is plain
to see which: no U+0000; no line end but LF and CRLF; the same number of delimiters in each line; and quotes around
whole fields only, with no line end between them (a doubled one inside is one). Lines and fields are within the limits
of the careful reader, and no line is blank. Any other chunk is `csv_source`'s to read record by record. So where a
chunk begins and ends shows in nothing but the time.

Checked in tests/snapshot/test_csv.py, beside the careful reader on texts of odd and plain lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpcurator.catalog.declaration import CsvOptions
from dpcurator.snapshot.arrow import TEXT, Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LF, _CR = 10, 13


def plain_records(
    text: str, options: CsvOptions, width: int, chosen: Sequence[int], *, longest_line: int, longest_field: int
) -> list[Vector] | None:
    """The chosen fields of each line, column by column; None where the text is not plain. text: whole lines. The limits
    are in characters, and here of bytes, which are no fewer."""
    import numpy as np

    if not (options.delimiter.isascii() and options.quote.isascii()) or "\0" in text:
        return None
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return None
    if data[-1] != _LF:
        data += b"\n"
    returns = data.count(b"\r")
    if returns and returns != data.count(b"\r\n"):
        return None
    letters = np.frombuffer(data, np.uint8)
    found = _fields(letters, ord(options.delimiter), ord(options.quote or "\0"), width, bool(returns))
    if found is None:
        return None
    starts, ends, doubled = found
    lines = np.flatnonzero(letters == _LF)
    if np.diff(lines, prepend=-1).max() >= longest_line or (ends - starts).max() > longest_field:
        return None
    return _taken(letters, starts, ends, doubled, width, chosen)


def _fields(
    letters: NDArray[np.uint8], delimiter: int, quote: int, width: int, returns: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]] | None:
    """Where each field begins and ends, and the first of each two quotes that stand for one; None unless plain."""
    import numpy as np

    ends = np.flatnonzero((letters == delimiter) | (letters == _LF))
    quotes = np.flatnonzero(letters == quote)
    doubled = quotes[:0]
    if len(quotes):
        inside = np.searchsorted(quotes, ends) % 2 == 1
        found = _doubled(letters, quotes, delimiter)
        if found is None or (letters[ends[inside]] == _LF).any():
            return None
        ends, doubled = ends[~inside], found
    if len(ends) % width:
        return None
    last = letters[ends].reshape(-1, width) == _LF
    if not last[:, -1].all() or last[:, :-1].any():
        return None
    starts = np.empty_like(ends)
    starts[0], starts[1:] = 0, ends[:-1] + 1
    if returns:
        lines = ends[width - 1 :: width]  # a view
        lines -= (letters[lines - 1] == _CR) & (lines > 0)
    if width == 1 and (ends == starts).any():
        return None
    if len(quotes):
        around = letters[starts] == quote
        starts, ends = starts + around, ends - around
    return starts, ends, doubled


def _doubled(letters: NDArray[np.uint8], quotes: NDArray[np.int64], delimiter: int) -> NDArray[np.int64] | None:
    """The first of each two quotes that stand for one; None unless all others are around whole fields."""
    import numpy as np

    if len(quotes) % 2:
        return None
    opening, closing = quotes[0::2], quotes[1::2]
    joined = closing[:-1] + 1 == opening[1:]
    before, after = letters[opening - 1], letters[closing + 1]  # the last letter is a line end: there is one after
    begins = (before == delimiter) | (before == _LF) | (opening == 0)
    begins[1:] |= joined
    finishes = (after == delimiter) | (after == _LF) | (after == _CR)
    finishes[:-1] |= joined
    return closing[:-1][joined] if bool(np.all(begins & finishes)) else None


def _taken(
    letters: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], doubled: NDArray[np.int64],
    width: int, chosen: Sequence[int],
) -> list[Vector]:
    import numpy as np

    sizes = ends - starts
    kind: Any = np.uint8 if width < 255 else np.uint32
    nobody = np.iinfo(kind).max
    owners = np.empty((len(starts), 2), dtype=kind)  # of the letters of each field, and of those up to the next one
    owners[:, 0], owners[:, 1] = np.tile(np.arange(width, dtype=kind), len(starts) // width), nobody
    runs = np.empty((len(starts), 2), dtype=np.int64)
    runs[:, 0], runs[:-1, 1], runs[-1, 1] = sizes, starts[1:] - ends[:-1], len(letters) - ends[-1]
    owner = np.concatenate([np.full(starts[0], nobody, dtype=kind), np.repeat(owners.ravel(), runs.ravel())])
    if len(doubled):
        owner[doubled] = nobody
        sizes = sizes - np.bincount(np.searchsorted(ends, doubled), minlength=len(sizes))
    taken = []
    for position in chosen:
        offsets = np.zeros(len(starts) // width + 1, dtype=np.int64)
        np.cumsum(sizes[position::width], out=offsets[1:])
        taken.append(Vector(TEXT, (offsets, letters[owner == position])))
    return taken
