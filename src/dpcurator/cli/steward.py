"""What a steward runs: init, refresh, check, log, ledger move, key, key rotate, reopen."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from dpcurator.cli.application import HERE, AsJson, Catalog, app, command, ledger_at, show, show_json
from dpcurator.cli.progress import progress, rows_read
from dpcurator.errors import Refusal


@command(name="init", epilog="Example: dpcurator init visits.csv")
def init(
    source: Annotated[
        list[str] | None,
        typer.Argument(help="A CSV, Parquet or DuckDB file, pattern or folder; several make one catalog.",
                       metavar="FILE..."),
    ] = None,
    table: Annotated[str | None, typer.Option(help="The table's name; default, the file's.", metavar="NAME")] = None,
    header: Annotated[
        bool | None, typer.Option("--header/--no-header", help="Does the first line name the columns?")
    ] = None,
    postgres: Annotated[str | None, typer.Option(
        help="In place of FILE: a PostgreSQL table, by the variable of its connection string.", metavar="env:NAME",
        show_default=False,
    )] = None,
    catalog: Catalog = HERE,
    as_json: AsJson = False,
) -> None:
    """Draft a catalog for a file: names, guessed types, and what you must declare. Overwrites nothing."""
    from dpcurator.catalog.init import write, write_draft
    from dpcurator.catalog.init_several import write_several
    from dpcurator.catalog.postgres_draft import drafted_table

    source = source or None
    if (source is None) == (postgres is None):
        what = "init drafts for a file or for a PostgreSQL table" + (", not for both." if source else ".")
        raise Refusal(what, cure="Run: dpcurator init visits.csv; or: dpcurator init --postgres env:CLINIC_DSN --table "
                      "public.visits.")
    if source is not None and len(source) > 1:
        if table is not None:
            raise Refusal("--table names one table, and here are several files.", cure="Leave it out.")
        notes = write_several(source, to=catalog, header=header)
    elif source is not None:
        notes = write_draft(source[0], to=catalog, table=table, header=header)
    else:
        notes = write(drafted_table(postgres or "", table), catalog)
    if as_json:
        show_json({"catalog": str(catalog), "notes": notes})
    else:
        if notes:
            show("\n".join(["for you alone, as it is of private rows:", *(f"  {note}" for note in notes)]))
        show(f'wrote {catalog}: replace every "?", then run `dpcurator refresh` and `dpcurator check`')


@command(name="refresh", epilog="Example: dpcurator refresh")
def refresh(
    catalog: Catalog = HERE,
    version: Annotated[str | None, typer.Option(
        help="A public name for this data. Given again, the data is not read again.", metavar="NAME", show_default=False
    )] = None,
    as_json: AsJson = False,
) -> None:
    """Read the declared sources once into a new snapshot. The report is for the steward alone. Exit code 4 when nothing
    could be read of a table or a column, though the new data version is then in force."""
    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import refresh_all
    from dpcurator.snapshot.store import named

    declaration = load(catalog)
    standing = None if version is None else named(declaration, version)
    if standing is not None:
        held = {"version": standing.version, "name": version, "read": False}
        words = f"version {version!r} is in force (data version {standing.version}): nothing was read. A new name is "
        show_json(held) if as_json else show(f"{words}new data")
        return
    with progress(rows_read(time.monotonic), quiet=as_json) as told:
        report = refresh_all(declaration, progress=told, name=version)
    show_json(report.as_json()) if as_json else show(report)
    if report.nothing_read:
        if not as_json:
            show(f"nothing could be read of {', '.join(report.nothing_read)}: check its type and how it is written")
        raise typer.Exit(4)


@command(name="check", epilog="Example: dpcurator check")
def check(catalog: Catalog = HERE, as_json: AsJson = False) -> None:
    """Is everything ready? What is undeclared, and the line to paste. Exit code 4 when questions cannot be answered."""
    from dpcurator.catalog.check import check as findings_of
    from dpcurator.catalog.check import ready
    from dpcurator.catalog.load import load
    from dpcurator.cli.layout import findings_text
    from dpcurator.curator.opening import curator_of
    from dpcurator.snapshot.store import public_facts

    declaration = load(catalog)
    findings = findings_of(declaration, public_facts(declaration))
    fine = ready(findings)
    if fine:
        fine = curator_of(declaration).ledger.life() in ("new", "open")
    if as_json:
        show_json({"ready": fine, "findings": [finding.as_json() for finding in findings]})
    else:
        if findings:
            show(findings_text(findings))
        show("ready: questions can be asked" if fine else "not ready")
    raise typer.Exit(0 if fine else 4)


@command(name="log", epilog="Example: dpcurator log --json")
def log(catalog: Catalog = HERE, as_json: AsJson = False) -> None:
    """The ledger's history. For the steward: it shows every analyst's requests."""
    from dpcurator.cli.layout import log_text

    entries = list(ledger_at(catalog).events())
    show_json([entry.as_json() for entry in entries]) if as_json else show(log_text(entries))


ledgers = typer.Typer(
    name="ledger",
    help="Move the ledger to another store: to a PostgreSQL server, or back to a file.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(ledgers)


@command(to=ledgers, name="move", epilog="Example: dpcurator ledger move --to env:LEDGER_DSN --schema clinic")
def move_ledger(
    to: Annotated[str, typer.Option(help="env:NAME, the variable that holds a server's connection string; or file.",
                                    metavar="PLACE")],
    schema: Annotated[str, typer.Option(help="The schema of that database, made if it is not there.",
                                        metavar="NAME")] = "dpcurator",
    catalog: Catalog = HERE,
    as_json: AsJson = False,
) -> None:
    """Copy the ledger to another store, whole. The old one is sealed first, and takes no charge any more."""
    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import move_ledger as moved

    with progress(lambda done, whole: f"{done:,} of {whole:,} events copied", quiet=as_json) as seen:
        found = moved(load(catalog), None if to == "file" else (to, schema), seen)
    if as_json:
        show_json({"events": found.position, "head": found.head, "from": found.old, "to": found.new,
                   "store": found.store})
        return
    show(f"{found.position:,} events are now at {found.new}; {found.old} takes no charge any more")
    show(f"Write under [ledger]: {found.store}" if found.store else "Take store out of [ledger].")


keys = typer.Typer(
    name="key",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(keys)


@command(to=keys, name="key", alone=True, epilog="Example: dpcurator key")
def key(context: typer.Context, catalog: Catalog = HERE, as_json: AsJson = False) -> None:
    """The curator's public key: publish it, so that anyone can check a receipt's signature. With --json also how it
    came to follow earlier ones. `dpcurator key rotate` draws another."""
    if context.invoked_subcommand is not None:
        if catalog != HERE or as_json:  # `rotate` would not see them, and rotate the key of another catalog
            raise Refusal("options come after the command.", cure="Write: dpcurator key rotate --catalog FILE")
        return
    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import key_of, ledger_of

    declaration = load(catalog)
    public = key_of(declaration)
    chain = ledger_of(declaration, public).key_chain()  # which refuses a key that is not in force
    if as_json:
        show_json({"public_key": public.public, "chain": [link.as_json() for link in chain]})
    else:
        show(public.public)


@command(to=keys, name="rotate", epilog="Example: dpcurator key rotate")
def rotate(catalog: Catalog = HERE, as_json: AsJson = False) -> None:
    """Draw a new signing key. The old one signs that the new one follows it, the ledger keeps that, and it is gone."""
    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import rotate_key

    link = rotate_key(load(catalog))
    if as_json:
        show_json({"public_key": link.new, "link": link.as_json()})
        return
    show(f"{link.new}\nfollows {link.old} from event {link.position} on.\nPublish it, and back up the ledger with its "
         "key now: an older backup has the old key. Receipts made before hold as before.")


@command(name="reopen", epilog="Example: dpcurator reopen")
def reopen(catalog: Catalog = HERE, as_json: AsJson = False) -> None:
    """Take questions again after a fault. First find its cause: the fault's own words are constant on purpose."""
    changed = ledger_at(catalog).reopen()
    if as_json:
        show_json({"reopened": changed})
    else:
        show("open: questions are taken again" if changed else "nothing to do: the curator was not closed")
