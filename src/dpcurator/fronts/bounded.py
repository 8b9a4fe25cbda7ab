"""A parser of sqlglot's that does bounded work, and writes to no log.

Where a word may be a type or a function, as in date(date(...)), the parser reads what is in its brackets as one and
then, anew, as the other: twice as long with each level, so nesting alone bounds nothing. Here what is read again is
counted, and bounded in proportion to the text. And where the parser meets a statement that it does not know it writes
the text to the log; here that is an error. Checked in tests/fronts/test_sql.py, tests/server/test_wire.py.
"""

from __future__ import annotations

from typing import Any, Final

from dpcurator.errors import Refusal

MOST_AGAIN: Final = 50  # tokens that are read again, for each token of the text
SMALLEST: Final = 5_000  # of them, however short the text is


def bounded(base: Any) -> Any:
    """A parser's class, bounded. It raises Refusal where too much is read again."""

    class Bounded(base):  # type: ignore[misc]  # which dialect's is known when it runs
        _again = 0

        def _retreat(self, index: int) -> None:
            self._again += max(0, self._index - index)
            if self._again > max(SMALLEST, MOST_AGAIN * len(self._tokens)):
                raise Refusal(
                    "functions, brackets or CASE stand in one another in too many ways to be read.",
                    cure="Simplify it: a subquery can compute the inner ones under a name.",
                )
            super()._retreat(index)

        def _warn_unsupported(self) -> None:
            self.raise_error("this is no statement that can be read")

    return Bounded
