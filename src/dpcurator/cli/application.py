"""What the commands share: the application, the options, the printing, the way errors end.

An error is one message on standard error (with --json: one object on standard output) and its documented exit code;
there is never a traceback, since it could quote a cell.
"""

from __future__ import annotations

import functools
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpcurator.cli.place import PLACE, disconnected, require_at_a_distance
from dpcurator.cli.usage import Command, Group
from dpcurator.errors import DpcuratorError, Fault, Misconfigured
from dpcurator.numbers.text_table import printable

if TYPE_CHECKING:
    from dpcurator.ledger import Ledger

app = typer.Typer(
    name="dpcurator",
    cls=Group,
    help="Ask private tables questions in SQL; answers are differentially private, priced, and signed.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: dpcurator demo",
)

Catalog = Annotated[Path, typer.Option("--catalog", "-c", help="The catalog file.", metavar="FILE")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
HERE = Path("curator.toml")
_HIDDEN = re.compile("[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\U000e0001-\U000e007f]")
_INTERRUPTED = "interrupted. A charge that was made stands; the same question again resumes it at no cost."


def command(
    *, to: typer.Typer = app, alone: bool = False, **settings: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command, of the application or a group of it, whose errors end as documented. alone: it is what the
    group itself does, without one of its commands."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def guarded(*args: Any, **named: Any) -> None:
            as_json = bool(named.get("as_json"))
            try:
                with _near(settings.get("name", function.__name__)):
                    function(*args, **named)
            except DpcuratorError as error:
                _end(error, as_json)
            except KeyboardInterrupt:
                print(f"\n{_INTERRUPTED}", file=sys.stderr)
                raise typer.Exit(130) from None
            except (typer.Exit, BrokenPipeError):
                raise
            except Exception:  # whatever else: no words of it, they could hold data
                _end(Fault() if function.__name__ == "ask" else _unexpected(), as_json)

        if alone:
            return to.callback(epilog=settings["epilog"])(guarded)
        return to.command(cls=Command, **settings)(guarded)

    return register


@contextmanager
def _near(name: str) -> Iterator[None]:
    """The time of a command. Raises Refusal for one beside the data that was sent to a server."""
    require_at_a_distance(name)
    try:
        yield
    finally:
        disconnected()


def _unexpected() -> Misconfigured:
    return Misconfigured(
        "Something failed that should not have.", cure="Run `dpcurator check`; if that is clean, report it as a bug."
    )


class _Unwritten(Misconfigured):
    """Standard output takes no more: said on the other stream."""


def _unwritten() -> _Unwritten:
    """What is left in the buffer goes nowhere, so that the program ends as it says."""
    with suppress(Exception):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    return _Unwritten(
        "the output could not be written; an answer that was paid is stored.",
        where="standard output",
        cure="Make room, or send it elsewhere, and ask the same again: it is free.",
    )


def _end(error: DpcuratorError, as_json: bool) -> None:
    if as_json and not isinstance(error, _Unwritten):
        show_json(error.as_json() | {"exit_code": error.exit_code})
    else:
        print(f"{error.title}: {error}", file=sys.stderr)
    raise typer.Exit(error.exit_code) from None


def ledger_at(catalog: Path) -> Ledger:
    """The ledger that a catalog file declares."""
    from dpcurator.catalog.load import load
    from dpcurator.curator.opening import key_of, ledger_of

    declaration = load(catalog)
    return ledger_of(declaration, key_of(declaration))


def show_json(value: Any) -> None:
    """Print JSON. What a terminal would obey, or hide, in a text of others stands in it as an escape."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    show(_HIDDEN.sub(lambda found: _escaped(found[0]), text))


def _escaped(letter: str) -> str:
    units = letter.encode("utf-16-be")
    return "".join(f"\\u{units[at:at + 2].hex()}" for at in range(0, len(units), 2))


def show(text: object) -> None:
    """Print, whatever the terminal's encoding can hold; to a terminal, with what it would obey or hide as escapes.
    Raises Misconfigured where it cannot be written."""
    if sys.stdout is not None and sys.stdout.isatty():
        text = "".join(letter if letter in "\n\t" else printable(letter) for letter in str(text))
    try:
        try:
            print(text, flush=True)
        except UnicodeEncodeError:
            encoding = sys.stdout.encoding or "ascii"
            print(str(text).replace("±", "+-").encode(encoding, "backslashreplace").decode(encoding), flush=True)
    except BrokenPipeError:
        raise
    except OSError:
        raise _unwritten() from None


def _version(wanted: bool) -> None:
    if wanted:
        from dpcurator import __version__

        print(f"dpcurator {__version__}")
        raise typer.Exit


@app.callback()
def top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    server: Annotated[
        str | None, typer.Option("--server", envvar="DPCURATOR_SERVER", help="Ask a curator's server.", metavar="URL")
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option("--token-file", help="Holds its token; default, DPCURATOR_TOKEN.", metavar="FILE")
    ] = None,
    public_key: Annotated[
        str | None, typer.Option("--public-key", help="Check its answers against this key.", metavar="HEX")
    ] = None,
) -> None:
    """Ask private tables questions in SQL; answers are differentially private, priced, and signed."""
    PLACE.url, PLACE.token_file, PLACE.key = server, token_file, public_key
