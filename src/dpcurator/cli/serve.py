"""What a steward runs to let analysts in from elsewhere: serve."""

from __future__ import annotations

from typing import Annotated

import typer

from dpcurator.cli.application import HERE, Catalog, command, show
from dpcurator.errors import Refusal


@command(name="serve", epilog="Example: dpcurator serve --port 8642")
def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.", metavar="ADDRESS")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port.", min=1, max=65535, metavar="NUMBER")] = 8642,
    workers: Annotated[int, typer.Option(help="Processes, over one ledger.", min=1, max=64, metavar="N")] = 1,
    tick: Annotated[
        str, typer.Option(help="Send paid answers at whole multiples of this time, as in 2s.", metavar="TIME")
    ] = "0s",
    certificate: Annotated[str, typer.Option("--tls-cert", help="A certificate, for TLS.", metavar="FILE")] = "",
    certificate_key: Annotated[str, typer.Option("--tls-key", help="Its private key.", metavar="FILE")] = "",
    without_tls: Annotated[
        bool, typer.Option("--without-tls", help="Listen to other machines in the clear all the same.")
    ] = False,
    postgres_port: Annotated[
        int, typer.Option(help="Also take PostgreSQL's clients, psql, pandas and SQLAlchemy, on this port; 0: on none.",
                          min=0, max=65535, metavar="NUMBER")
    ] = 0,
    catalog: Catalog = HERE,
) -> None:
    """Answer analysts over HTTP, each in an account of its own, until stopped. `dpcurator user add` makes accounts."""
    require_server()
    from dpcurator.server.running import Settings
    from dpcurator.server.running import serve as run

    settings = Settings(
        str(catalog.resolve()), host, port, workers, _seconds(tick), certificate, certificate_key, without_tls,
        postgres_port=postgres_port,
    )
    settings.check()

    def said() -> None:
        scheme = "https" if certificate else "http"
        show(f"listening on {scheme}://{f'[{host}]' if ':' in host else host}:{port}; stop with Ctrl-C")
        if postgres_port:
            show(f"and to PostgreSQL's clients: psql \"host={host} port={postgres_port} user=ana dbname=dp\"")

    run(settings, said)


def require_server() -> None:
    """Raises Refusal where the packages of a server are not installed."""
    try:
        from dpcurator.server import running  # noqa: F401
    except ModuleNotFoundError:
        raise Refusal("the server's packages are not installed.", cure='Run: pip install "dpcurator[server]"') from None


def _seconds(text: str) -> float:
    """Raises Refusal for what is no time."""
    from dpcurator.numbers.rational import at_least_0

    found = float(at_least_0(text.strip().removesuffix("s"), name="tick", like="2s"))
    if found > 3600:
        raise Refusal("a tick is at most an hour.", cure="Write it as in --tick 2s.")
    return found
