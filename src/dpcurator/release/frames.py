"""An answer as a data frame: one list of typed columns, for pandas, polars, Arrow and CSV alike.

Columns     A noisy column `n` is followed by `n ±`, its error bar, by `n_low` and `n_high`, the ends of its interval,
            and by `n_within_bar`, whether the value is smaller than its error bar; a quantile by `n rank ±` alone, the
            rows by which it may miss. A title that an earlier column has gets a number, as in `n (2)`; so does one of
            these whose name is a column of the question.
Types       Whole numbers stay exact: 64-bit integers, nullable where one is missing; beyond 64 bits Python's own in
            pandas, and text elsewhere. Dates are dates, also months and weeks; timestamps are UTC, to the microsecond.
Marks       Where a missing key stands for all keys that are not shown, and where all rows are made up, pandas says so
            in `attrs`; the others have the columns `(other)` and `made_up`.
Checked     tests/release/test_frames.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal

from dpcurator.errors import Refusal
from dpcurator.numbers.rational import INT64
from dpcurator.values import Cell

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from dpcurator.release.answer import Answer

Type = Literal["integer", "long", "float", "boolean", "text", "date", "timestamp"]
NOISY: Final = ("whole", "number")  # how a column with error bars is shown
_TYPES: Final[dict[str, Type]] = {
    "integer": "integer", "whole": "integer", "float": "float", "number": "float", "boolean": "boolean",
    "truth": "boolean", "date": "date", "timestamp": "timestamp",
}


@dataclass(frozen=True, slots=True)
class Series:
    """One column: its name, the type of its values, and the values, None where there is none."""

    name: str
    type: Type
    values: list[Any]


def series_of(answer: Answer, *, marks: bool = True) -> list[Series]:
    """The columns of an answer in order, each under a name of its own. marks: with those that say what rows are."""
    found: list[tuple[str, Series]] = []
    for name, shown, cells in zip(_numbered(answer.columns), answer.shown, _columns(answer), strict=True):
        found.append((name, _series(name, shown, [cell.value for cell in cells])))
        if any(cell.rank is not None for cell in cells):
            found.append((f"{name} rank ±", Series(name, "float", [cell.rank for cell in cells])))
        elif shown in NOISY:
            ends = {"±": [c.error for c in cells], "low": [c.low for c in cells], "high": [c.high for c in cells]}
            found += [(f"{name} {end}" if end == "±" else f"{name}_{end}", Series(name, "float", values))
                      for end, values in ends.items()]
            found.append((f"{name}_within_bar", Series(name, "boolean", [cell.within_bar for cell in cells])))
    if marks and other_rows(answer):
        rows = set(other_rows(answer))
        found.append(("(other)", Series("(other)", "boolean", [number in rows for number in range(len(answer))])))
    if marks and answer.made_up:
        found.append(("made_up", Series("made_up", "boolean", [True] * len(answer))))
    taken = set(_numbered(answer.columns))
    made: list[Series] = []
    for name, one in found:
        unique = name if name == one.name and name in taken else _unused(name, taken)
        taken.add(unique)
        made.append(Series(unique, one.type, one.values))
    return made


def other_rows(answer: Answer) -> list[int]:
    """The numbers of the rows whose missing key stands for all keys that are not shown; from 0."""
    return [number for number, row in enumerate(answer.cells) if any(cell.other for cell in row)]


def to_pandas(answer: Answer) -> pd.DataFrame:
    pd = _installed("pandas")
    frame = pd.DataFrame({one.name: _for_pandas(pd, one) for one in series_of(answer, marks=False)})
    frame.attrs["made_up"] = answer.made_up
    frame.attrs["other"] = other_rows(answer)
    return frame


def to_polars(answer: Answer) -> pl.DataFrame:
    pl = _installed("polars")
    types = {
        "integer": pl.Int64, "long": pl.String, "float": pl.Float64, "boolean": pl.Boolean, "text": pl.String,
        "date": pl.Date, "timestamp": pl.Datetime("us", "UTC"),
    }
    columns = [pl.Series(one.name, _plain(one), dtype=types[one.type]) for one in series_of(answer)]
    return pl.DataFrame(columns)  # type: ignore[no-any-return]


def to_arrow(answer: Answer) -> pa.Table:
    pa = _installed("pyarrow")
    types = {
        "integer": pa.int64(), "long": pa.string(), "float": pa.float64(), "boolean": pa.bool_(), "text": pa.string(),
        "date": pa.date32(), "timestamp": pa.timestamp("us", tz="UTC"),
    }
    series = series_of(answer)
    columns = [pa.array(_plain(one), type=types[one.type]) for one in series]
    return pa.table(columns, names=[one.name for one in series])


def _installed(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise Refusal(f"{name} is not installed.", cure='Install it: pip install "dpcurator[frames]".') from None


def _numbered(titles: Sequence[str]) -> list[str]:
    """The titles, each its own: one that was there gets a number that no title has."""
    taken: set[str] = set()
    made: list[str] = []
    for title in titles:
        unique = title if title not in taken else _unused(title, {*taken, *titles})
        taken.add(unique)
        made.append(unique)
    return made


def _unused(title: str, taken: Iterable[str]) -> str:
    unique, number = title, 2
    while unique in taken:
        unique, number = f"{title} ({number})", number + 1
    return unique


def _columns(answer: Answer) -> list[list[Cell]]:
    return [[row[place] for row in answer.cells] for place in range(len(answer.columns))]


def _series(name: str, shown: str, values: list[Any]) -> Series:
    there = [value for value in values if value is not None]
    kind = _TYPES.get(shown, "text")
    if kind in ("date", "timestamp"):
        if not all(isinstance(value, str) for value in there):  # outside the years 1 to 9999, which no text spells
            return Series(name, "text", [None if value is None else str(value) for value in values])
        read = date.fromisoformat if kind == "date" else datetime.fromisoformat
        return Series(name, kind, [None if value is None else read(value) for value in values])
    if kind == "integer" and not all(value in INT64 for value in there):
        return Series(name, "long", values)
    return Series(name, kind, values)


def _plain(one: Series) -> list[Any]:
    """The values; of whole numbers beyond 64 bits the decimal text."""
    return one.values if one.type != "long" else [None if value is None else str(value) for value in one.values]


def _for_pandas(pd: Any, one: Series) -> Any:
    import numpy as np

    gaps = any(value is None for value in one.values)
    match one.type:
        case "integer":
            return pd.Series(one.values, dtype="Int64" if gaps else "int64")
        case "long":
            return pd.Series(one.values, dtype=object)
        case "boolean":
            return pd.Series(one.values, dtype="boolean" if gaps else "bool")
        case "float":
            return pd.Series(one.values, dtype="float64")
        case "date":
            return pd.Series(np.array(one.values, dtype="datetime64[s]"))
        case "timestamp":
            bare = [None if value is None else value.replace(tzinfo=None) for value in one.values]
            return pd.Series(np.array(bare, dtype="datetime64[us]")).dt.tz_localize("UTC")
    return pd.Series(one.values, dtype=None if one.values else object)


def to_csv(answer: Answer) -> str:
    """One line for each row, under the names of the data frames: values as they are, the ends of each interval, then
    what the answer costs and the receipt's id. Missing is empty."""
    import csv
    import io

    from dpcurator.numbers import decimal_text

    series = series_of(answer)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*(one.name for one in series), f"cost ({answer.currency})", "receipt"])
    paid = ["" if answer.made_up else decimal_text(answer.cost), answer.receipt_id or ""]
    for row in zip(*(one.values for one in series), strict=True):
        writer.writerow([*map(_written, row), *paid])
    return out.getvalue().rstrip("\n")


def _written(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
