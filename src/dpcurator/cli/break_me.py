"""`dpcurator break-me`: the steward's own schema, asked everything, over rows that are made up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dpcurator.cli.application import HERE, AsJson, Catalog, command, show, show_json
from dpcurator.cli.progress import progress

if TYPE_CHECKING:
    from dpcurator.break_me.search import Broken

FOUND = 3  # the exit code


@command(name="break-me", epilog="Example: dpcurator break-me --seconds 10")
def break_me(
    seconds: Annotated[float, typer.Option(help="How long to try.", min=0.1, max=10**6)] = 60,
    seed: Annotated[int, typer.Option(help="Another seed tries other questions and tables.", min=0)] = 0,
    catalog: Catalog = HERE,
    as_json: AsJson = False,
) -> None:
    """Try to break your own curator: generated questions over made-up extreme neighbours. Exit code 3: something was
    found."""
    from dpcurator.break_me.bench import search
    from dpcurator.catalog.load import load

    with progress(_so_far, quiet=as_json) as told:
        found = search(load(catalog), seconds=seconds, seed=seed, told=told)
    show_json(found.as_json()) if as_json else show(found)
    raise typer.Exit(FOUND if found.witness else 0)


def _so_far(found: Broken) -> str:
    return f"{found.seconds:4.0f} s: {found.questions:,} questions, {found.pairs:,} pairs"
