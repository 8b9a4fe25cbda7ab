"""What an analyst runs to choose caps: `dpcurator caps`. Checked in tests/cli/test_caps.py."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dpcurator.cli.application import HERE, AsJson, Catalog, command, show, show_json
from dpcurator.cli.ask import write_receipt
from dpcurator.cli.distant import given
from dpcurator.cli.formats import absent
from dpcurator.cli.place import connected
from dpcurator.cli.price_options import Epsilon, Rho, Spend

Table = Annotated[str, typer.Argument(help="A private table, by its exact name.", metavar="TABLE")]


@command(name="caps", epilog="Example: dpcurator caps visits --epsilon 0.05")
def caps(
    table: Table,
    epsilon: Epsilon = None,
    rho: Rho = None,
    spend: Spend = None,
    sql: Annotated[bool, typer.Option("--sql", help="Print the question as SQL, and ask nothing.")] = False,
    receipt: Annotated[
        Path | None, typer.Option("--receipt", help="Also write the receipt to a new file.", metavar="FILE")
    ] = None,
    catalog: Catalog = HERE,
    as_json: AsJson = False,
) -> None:
    """Count, for a small price, how many people have how many rows, and suggest caps. Without a price: a free menu."""
    if (remote := connected()) is not None:
        _caps_there(remote, table, given({"epsilon": epsilon, "rho": rho, "spend": spend}), sql, receipt, as_json)
        return
    from dpcurator.curator.opening import open_curator
    from dpcurator.curator.rows_per_unit import rows_frame

    curator = open_curator(catalog)
    question = rows_frame(curator.table(table), curator.catalog.protects)
    if sql:
        show_json({"sql": question.sql()}) if as_json else show(question.sql())
        return
    if epsilon is None and rho is None and spend is None:
        menu = question.menu()
        show_json(menu.as_json()) if as_json else show(menu.told(f"choose one with --spend, or --{menu.currency}"))
        return
    absent(receipt, "receipt")
    found = curator.rows_per_unit(table, epsilon=epsilon, rho=rho, spend=spend)
    if receipt is not None and found.answer.receipt is not None:
        write_receipt(receipt, found.answer.receipt)
    show_json(found.as_json()) if as_json else show(str(found))


def _caps_there(remote: Any, table: str, price: Any, sql: bool, receipt: Path | None, as_json: bool) -> None:
    """The same of a server."""
    absent(receipt, "receipt")
    found = remote.rows_per_unit(table, **({} if sql else price))
    if sql:
        show_json({"sql": found["sql"]}) if as_json else show(found["sql"])
        return
    if receipt is not None and price and found["answer"]["receipt"] is not None:
        write_receipt(receipt, found["answer"]["receipt"])
    show_json(found.as_json()) if as_json else show(found)
