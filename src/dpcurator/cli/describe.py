"""What an analyst runs to describe a table: `dpcurator describe`. Checked in tests/cli/test_describe.py."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpcurator.cli.application import HERE, AsJson, Catalog, command, show, show_json
from dpcurator.cli.caps import Table
from dpcurator.cli.place import connected
from dpcurator.cli.price_options import Confidence, Cut, Delta, Epsilon, MaxGroups, MaxRows, MaxTotal, Rho, Spend
from dpcurator.errors import Refusal

if TYPE_CHECKING:
    from dpcurator.pricing.offers import BatchAsking


@command(name="describe", epilog="Example: dpcurator describe visits --spend 10%")
def describe(
    table: Table,
    epsilon: Epsilon = None,
    rho: Rho = None,
    delta: Delta = None,
    spend: Spend = None,
    confidence: Confidence = "0.95",
    max_total: MaxTotal = None,
    max_rows: MaxRows = None,
    max_groups: MaxGroups = None,
    cut: Cut = None,
    rehearse: Annotated[
        bool, typer.Option("--rehearse", help="Describe made-up rows: free, needs no data, charges nothing.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Pay again, for independent noise.")] = False,
    sql: Annotated[bool, typer.Option("--sql", help="Print the questions as SQL, and ask nothing.")] = False,
    catalog: Catalog = HERE,
    as_json: AsJson = False,
) -> None:
    """Summarise every column of a table by its type, for one charge."""
    asked: BatchAsking = {
        "epsilon": epsilon, "rho": rho, "delta": delta, "spend": spend, "confidence": confidence, "cut": cut,
        "max_total": max_total, "max_rows": max_rows, "max_groups": max_groups,
    }
    given: Any = {name: value for name, value in asked.items() if value is not None}
    if sql:
        written = _questions(catalog, table)
        show_json({"sql": written}) if as_json else show(written)
        return
    if not rehearse and (epsilon, rho, spend) == (None, None, None):
        raise Refusal("a description needs a price.",
                      cure="Write it as in --spend 10%; with --rehearse it is free, over made-up rows.")
    found = _described(catalog, table, given, rehearse=rehearse, fresh=fresh)
    show_json(found.as_json()) if as_json else show(str(found))


def _questions(catalog: Path, table: str) -> str:
    """The batch as SQL, from the catalog alone."""
    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import rehearsing
    from dpcurator.release.description import questions_of

    return questions_of(rehearsing(load(catalog)).tables[table]).sql


def _described(catalog: Path, table: str, given: Any, *, rehearse: bool, fresh: bool) -> Any:
    """The description: by the server, of made-up rows, or of the data here."""
    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import open_curator, rehearsing

    remote = connected()
    if rehearse:
        if fresh or remote is not None:
            raise Refusal("a rehearsal is free, and made where the catalog is.", cure="Leave out --fresh and --server.")
        return rehearsing(load(catalog)).describe(table, rehearse=True, **given)
    return (remote or open_curator(catalog)).describe(table, fresh=fresh, **given)
