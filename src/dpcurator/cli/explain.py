"""`explain`: everything the curator would do with a question, from public facts alone. For the steward.

The plan, the reach step by step, the price, each reading with its noise, and the query the engine would run. No data is
read and nothing is charged. Checked in tests/cli/test_commands.py.
"""

from __future__ import annotations

from typing import Any

from dpcurator.engines.duckdb.sql import statement
from dpcurator.numbers.text_table import printable
from dpcurator.plan.lines import plan_lines
from dpcurator.pricing.quote import Quote


def engine_query(quote: Quote) -> tuple[str, list[Any]]:
    """The engine's SQL and its bound values; empty when no private data would be read."""
    if quote.free:
        return "", []
    whole = quote if quote.held is None else quote.held.whole  # as if nothing of it had been paid before
    found = statement(whole.lowered.core)
    return found.sql, found.parameters


def explain_text(quote: Quote, told: str) -> str:
    """All of it for people; `told` is the quote in words."""
    sql, values = engine_query(quote)
    shown = [f"  ${number} = {printable(_cut(value))}" for number, value in enumerate(values, 1)]
    engine = (
        ["", "the engine would run:", *(f"  {printable(line)}" for line in sql.splitlines()), *shown] if sql else []
    )
    return "\n".join(["plan:", *(f"  {line}" for line in plan_lines(quote.plan, quote.catalog)), "", told, *engine])


def _cut(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:97]}..."
