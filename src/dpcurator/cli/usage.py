"""What somebody meant who typed a command wrongly: the way out, added to the parser's own words.

Checked in tests/cli/test_usage.py.
"""

from __future__ import annotations

from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

_Usage: Final[Any] = typer.BadParameter.__mro__[1]  # the parser's UsageError, which typer does not name
_ASKING: Final = ("ask", "quote", "explain")
_EXAMPLE: Final = 'dpcurator {} "SELECT COUNT(*) FROM visits"'


class Command(TyperCommand):
    """A command whose usage errors say what was meant."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except _Usage as error:
            error.message = f"{error.message} {of_arguments(self.name or '', given)}".strip()
            raise


class Group(TyperGroup):
    """The application, which knows what is no command of it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        given = list(args)
        try:
            return super().resolve_command(ctx, args)
        except _Usage as error:
            error.message = f"{error.message} {of_command(given[0] if given else '')}".strip()
            raise


def of_arguments(command: str, given: list[str]) -> str:
    """The cure of arguments that a command does not take; empty where there is none to offer."""
    words = [word for word in given if not word.startswith("-")]
    if command in _ASKING and len(words) > 1:
        return f"Put the question in quotes, as one argument: {_EXAMPLE.format(command)}."
    if command == "refresh" and words:
        return (
            "refresh takes no file: the catalog says what is read. `dpcurator init FILE` drafts a catalog for a file."
        )
    return ""


def of_command(word: str) -> str:
    """The cure of a word that is no command; empty where there is none to offer."""
    if word.upper().startswith("SELECT"):
        return f"A question goes to `ask`, in quotes: {_EXAMPLE.format('ask')}."
    if word.lower().rstrip("s") in ("table", "schema", "column", "show"):
        return "`dpcurator tables` lists the tables, their columns and what can be asked."
    if word.endswith((".csv", ".parquet", ".toml")):
        return "`dpcurator init FILE` drafts a catalog for a file of rows; `--catalog FILE` names a catalog."
    return ""
