"""What a steward runs for people: user add, list, limit, rotate, revoke. All of it is events of the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dpcurator.cli.application import HERE, AsJson, Catalog, app, command, ledger_at, show, show_json
from dpcurator.errors import Misconfigured, Refusal
from dpcurator.numbers import decimal_text

if TYPE_CHECKING:
    from dpcurator.ledger import Ledger
    from dpcurator.ledger.accounts import Account

users = typer.Typer(
    name="user",
    help="Accounts: who may ask over a server, and at most how much of the budget each may spend.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(users)

Name = Annotated[str, typer.Argument(help="The account's name, as in ana or ana@clinic.example.", metavar="NAME")]
Epsilon = Annotated[str | None, typer.Option(help="At most this epsilon of the ledger, ever.", metavar="NUMBER")]
Rho = Annotated[str | None, typer.Option(help="At most this rho of the ledger, ever.", metavar="NUMBER")]
Delta = Annotated[str | None, typer.Option(help="At most this delta of the ledger, ever.", metavar="NUMBER")]


def _limit(ledger: Ledger, epsilon: str | None, rho: str | None) -> str | None:
    """The limit in the ledger's currency. Raises Refusal for one in the other."""
    currency = ledger.budget().currency
    given = {"epsilon": epsilon, "rho": rho}
    other = "rho" if currency == "epsilon" else "epsilon"
    if given[other] is not None:
        raise Refusal(f"this ledger counts in {currency}.", cure=f"Write the limit as in --{currency} 0.5.")
    return given[currency]


def _told(account: Account, token: str | None, as_json: bool, words: str) -> None:
    if as_json:
        show_json(account.as_json() | ({} if token is None else {"token": token}))
        return
    delta = f", delta {decimal_text(account.delta)}" if account.delta else ""
    show(f"{account.analyst} {words}: {account.role}, at most {account.currency} {decimal_text(account.limit)}{delta}")
    if token is not None:
        show(f"token, shown this once: {token}")


@command(to=users, name="add", epilog="Example: dpcurator user add ana --epsilon 1")
def add(
    name: Name,
    role: Annotated[str, typer.Option(help="analyst, auditor or steward.", metavar="ROLE")] = "analyst",
    epsilon: Epsilon = None,
    rho: Rho = None,
    delta: Delta = None,
    token: Annotated[bool, typer.Option("--token/--no-token", help="Make the token that signs in, or none.")] = True,
    catalog: Catalog = HERE,
    as_json: AsJson = False,
) -> None:
    """Make an account, and print its token once. Without a limit it may spend what the whole ledger has."""
    from dpcurator.ledger.accounts import checked_name, new_token

    ledger = ledger_at(catalog)
    limit = _limit(ledger, epsilon, rho)
    made = new_token(checked_name(name)) if token else None
    if ledger.account(name) is not None:
        raise Misconfigured(
            f"there is an account {name}.",
            cure=f"For a new token: dpcurator user rotate {name}. For another limit: "
            f"dpcurator user limit {name} --{ledger.budget().currency} 0.5",
        )
    _told(ledger.grant(name, role=role, limit=limit, delta=delta, token=made), made, as_json, "may ask")


@command(to=users, name="list", epilog="Example: dpcurator user list")
def list_all(catalog: Catalog = HERE, as_json: AsJson = False) -> None:
    """All accounts: role, limit, what is spent and left of it, and whether a token signs in."""
    from dpcurator.numbers.text_table import table_text

    accounts = ledger_at(catalog).accounts()
    if as_json:
        show_json([one.as_json() for one in accounts])
        return
    if not accounts:
        show("there are no accounts: dpcurator user add NAME makes one")
        return
    currency = accounts[0].currency
    titles = ["name", "role", f"limit ({currency})", "spent", "left", "delta", "spent", "signs in"]
    rows = [
        [one.analyst, one.role, *map(decimal_text, (one.limit, one.spent, one.left)),
         *map(decimal_text, (one.delta, one.spent_delta)), "yes" if one.active else "no"]
        for one in accounts
    ]
    show(table_text(titles, rows, [False, False, True, True, True, True, True, False]))


@command(to=users, name="limit", epilog="Example: dpcurator user limit ana --epsilon 0.5")
def limit_to(
    name: Name,
    epsilon: Epsilon = None,
    rho: Rho = None,
    delta: Delta = None,
    catalog: Catalog = HERE,
    as_json: AsJson = False,
) -> None:
    """Change the most that an account may spend in all. What it has spent so far counts."""
    from dpcurator.ledger.accounts import require_known

    ledger = ledger_at(catalog)
    limit = _limit(ledger, epsilon, rho)
    if limit is None and delta is None:
        raise Refusal("there is no limit.", cure=f"Write it as in --{ledger.budget().currency} 0.5.")
    require_known(ledger.account(name), name)
    _told(ledger.grant(name, limit=limit, delta=delta), None, as_json, "may ask")


@command(to=users, name="rotate", epilog="Example: dpcurator user rotate ana")
def rotate(name: Name, catalog: Catalog = HERE, as_json: AsJson = False) -> None:
    """Make a new token for an account, and print it once. The old one signs in no more."""
    from dpcurator.ledger.accounts import new_token, require_known

    ledger = ledger_at(catalog)
    require_known(ledger.account(name), name)
    made = new_token(name)
    _told(ledger.grant(name, token=made), made, as_json, "has a new token")


@command(to=users, name="revoke", epilog="Example: dpcurator user revoke ana")
def revoke(name: Name, catalog: Catalog = HERE, as_json: AsJson = False) -> None:
    """Let no token of an account sign in any more. Its limit and what it spent stay."""
    from dpcurator.ledger.accounts import require_known

    ledger = ledger_at(catalog)
    require_known(ledger.account(name), name)
    _told(ledger.grant(name, token=""), None, as_json, "signs in no more")
