"""What an analyst or a steward runs to find bounds: `dpcurator bounds`. Checked in tests/cli/test_bounds.py."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dpcurator.cli.application import HERE, AsJson, Catalog, command, show, show_json
from dpcurator.cli.ask import write_receipt
from dpcurator.cli.formats import absent
from dpcurator.cli.place import connected
from dpcurator.cli.price_options import Delta, Epsilon, MaxTotal, Rho, Spend
from dpcurator.errors import Refusal


@command(name="bounds", epilog="Example: dpcurator bounds visits.cost --epsilon 0.5")
def bounds(
    column: Annotated[str, typer.Argument(help="A column of numbers with its table.", metavar="TABLE.COLUMN")],
    epsilon: Epsilon = None,
    rho: Rho = None,
    delta: Delta = None,
    spend: Spend = None,
    max_total: MaxTotal = None,
    share: Annotated[
        str | None,
        typer.Option("--share", help="How many of the rows may lie beyond each end; default, 0.05.", metavar="SHARE"),
    ] = None,
    sql: Annotated[bool, typer.Option("--sql", help="Print the question as SQL, and ask nothing.")] = False,
    receipt: Annotated[
        Path | None, typer.Option("--receipt", help="Also write the receipt to a new file.", metavar="FILE")
    ] = None,
    catalog: Catalog = HERE,
    as_json: AsJson = False,
) -> None:
    """Find bounds for a column that has none, for a price, as the line to paste. Declared bounds are not used."""
    from dpcurator.curator.opening import open_curator

    curator = connected() or open_curator(catalog)
    if sql:
        written = curator.bounds_question(column, share=share)
        show_json({"sql": written}) if as_json else show(written)
        return
    if (epsilon, rho, spend) == (None, None, None):
        raise Refusal("bounds need a price.", cure="Write it as in --epsilon 0.5.")
    absent(receipt, "receipt")
    given: Any = {"epsilon": epsilon, "rho": rho, "delta": delta, "spend": spend, "max_total": max_total}
    price = {name: value for name, value in given.items() if value is not None}
    found = curator.bounds(column, share=share, **price)
    if receipt is not None and found.answer.receipt is not None:
        write_receipt(receipt, found.answer.receipt)
    show_json(found.as_json()) if as_json else show(str(found))
