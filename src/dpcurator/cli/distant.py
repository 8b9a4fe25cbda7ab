"""The analyst's commands through a server: `dpcurator --server URL ask ...`, with the words and formats of those here.

Checked in tests/server/test_shell.py.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import typer

from dpcurator.cli.application import show, show_json
from dpcurator.cli.formats import Format
from dpcurator.errors import Refusal


def given(offer: Any) -> dict[str, Any]:
    """What of an offer was said."""
    return {name: value for name, value in offer.items() if value is not None}


def unpriced(offer: dict[str, Any]) -> dict[str, Any]:
    """What of it a menu takes."""
    return {name: value for name, value in offer.items() if name not in ("delta", "weights")}


def ask_there(
    remote: Any, questions: Sequence[str], asked: Any, how: Format, *, of_file: bool, rehearse: bool, yes: bool,
    **paid: Any,
) -> list[Any]:
    """The answers; none where there is no price: then the menu was shown."""
    offer = given(asked.batch_offer() if of_file else asked.offer())
    what: Any = questions if of_file else questions[0]
    if rehearse:
        if of_file:
            raise Refusal("a server rehearses one question at a time.", cure="Leave out --file; ask each by itself.")
        return [remote.rehearse(what, **offer)]
    if asked.unpriced if of_file else asked.unpriced_by(what):
        menu = (remote.menu_batch if of_file else remote.menu)(what, **unpriced(offer))
        show_json(menu.as_json()) if how is Format.JSON else show(menu)
        return []
    if not yes and sys.stdin.isatty() and sys.stderr.isatty():
        quote = (remote.quote_batch if of_file else remote.quote)(what, **offer)
        print(quote, file=sys.stderr)
        if not typer.confirm("pay and answer?", err=True):
            raise Refusal("not asked: you said no.", cure="Nothing was charged. With --yes there is no such question.")
    return list(remote.batch(what, **offer, **paid)) if of_file else [remote.ask(what, **offer, **paid)]


def budget_there(remote: Any, as_json: bool) -> None:
    """What is spent and left: of my own limit, and of the whole."""
    found = remote.budget().as_json()
    if as_json:
        show_json(found)
        return
    mine, whole = found["mine"], found["all"]
    show(f"my limit: spent {mine['spent']} of {mine['limit']}: {mine['left']} left")
    show(f"all: spent {whole['spent']} of {whole['budget']}: {whole['left']} left")
    if "delta" in whole:
        show(f"delta, my limit: spent {mine['spent_delta']} of {mine['delta']}")
        show(f"delta, all: spent {whole['delta']['spent']} of {whole['delta']['budget']}")
