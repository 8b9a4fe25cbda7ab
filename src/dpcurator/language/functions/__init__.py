"""Functions of rows: every one in a plan, and every one that SQL and data frames write, from the families' files."""

from __future__ import annotations

from typing import Final

from dpcurator.language.functions import casts, dates, numbers, texts
from dpcurator.language.functions.function import Function, RowFunction

FUNCTIONS: Final[tuple[Function, ...]] = (*numbers.FUNCTIONS, *texts.FUNCTIONS, *casts.FUNCTIONS, *dates.FUNCTIONS)
BY_NAME: Final = {function.name: function for function in FUNCTIONS}
ROW_FUNCTIONS: Final[dict[str, RowFunction]] = {**numbers.CALLS, **texts.CALLS, **dates.CALLS, **casts.CALLS}
ALSO: Final = {other: name for name, one in ROW_FUNCTIONS.items() for other in one.also}
