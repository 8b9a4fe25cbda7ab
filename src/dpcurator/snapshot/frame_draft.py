"""`dpcurator.draft`: a first catalog for a data frame or a file, to be finished by the steward.

Checked in tests/snapshot/test_frame_draft.py.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dpcurator.catalog.guesses import LOOKED_AT, Guess, decimal_of, guess
from dpcurator.catalog.init import Drafted
from dpcurator.catalog.init import draft as draft_of_file
from dpcurator.catalog.problems import quoted
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.csv_source import refuse_repeats
from dpcurator.snapshot.frames import RENAME, layout, values_of


def _guess(values: Sequence[Any]) -> Guess:
    """As of a file's column; texts may be numbers with a decimal comma, which a frame has column by column."""
    found = guess(values)
    if found.type == "text" and decimal_of([[value for value in values if isinstance(value, str)]]) == ",":
        comma = guess(values, ",")
        return replace(comma, fields=(("decimal", '","'), *comma.fields)) if comma.type == "float" else found
    return found


def draft(source: Any, /, *, table: str = "", header: bool | None = None) -> str:
    """Drafts a first curator.toml: names from the source, types as questions ("integer?"), and blanks ("?").

    Returns its text. A draft is for the steward to finish: nothing rests on what is guessed until it is confirmed.

    source: a pandas, polars or pyarrow table, a dict of equally long lists, or the path of a file as for `dpcurator
    init`. table: the name of the table (default: the file's, or "data"). header: of a CSV file, does its first line
    name the columns? Default: as it seems. Raises Misconfigured if the source cannot be used.

    >>> import dpcurator as dp
    >>> print(dp.draft({"who": ["a", "b"], "age": [31, 54]}, table="visits").splitlines()[-1])
    age = "integer?"
    """
    if isinstance(source, str | os.PathLike):
        return draft_of_file(os.fspath(source), table=table or None, header=header)
    name = table or "data"
    given, column_at, _ = layout(source, name, "")
    names = [str(column) for column in given]
    if not names:
        raise Misconfigured("The frame has no columns.", cure="Give one with the columns that may be asked about.")
    refuse_repeats(names, (), f"the frame {name}", "", RENAME)
    guesses = [_guess(values_of(column_at(position)[:LOOKED_AT])) for position in range(len(names))]
    told = f'# no file: give the frame, as in  dpcurator.open("curator.toml", {quoted(name)}=frame)'
    return Drafted(name, [told], names, guesses).text()
