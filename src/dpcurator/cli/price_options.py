"""The options by which a question is priced, said once for all commands that take them.

    @command(name="quote")
    @priced
    def quote(question: Question, asked: Asked, ...): ...

The shell sees `--epsilon`, `--rho`, ... in place of `asked`. Checked in tests/cli and tests/docs/test_complete.py.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from dpcurator.errors import Misconfigured, Refusal

if TYPE_CHECKING:
    from dpcurator.pricing.offers import Asking, BatchAsking, SeveralAsking
    from dpcurator.pricing.offers import CapsAsking as Caps

Question = Annotated[
    str | None, typer.Argument(help="One SELECT, in quotes; - reads it from standard input.", metavar="SQL")
]
File = Annotated[
    Path | None,
    typer.Option("--file", help="Questions from a file, a semicolon between: one price, one charge.", metavar="FILE"),
]
AsOne = Annotated[
    bool, typer.Option("--as-one", help="Account for a file's questions jointly if that is cheaper than adding them.")
]
Epsilon = Annotated[
    str | None,
    typer.Option(help="Price: this epsilon, as in 0.2. A rho ledger converts it to rho.", metavar="NUMBER"),
]
Rho = Annotated[
    str | None,
    typer.Option(help="Price: this rho, as in 0.005. An epsilon ledger converts it to epsilon.", metavar="NUMBER"),
]
Delta = Annotated[
    str | None,
    typer.Option(help="Spend at most this delta, as in 1e-9; default, the price's share of it.", metavar="NUMBER"),
]
Spend = Annotated[str | None, typer.Option(help="Price: this share of the whole budget, as in 5%.", metavar="PERCENT")]
Within = Annotated[
    list[str] | None,
    typer.Option(help="Price: whatever gives this column this error, as in n=50 or n=5%.", metavar="COL=ERR"),
]
Weight = Annotated[
    list[str] | None,
    typer.Option("--weight", help="How much this column's error bar counts, as in n=2.", metavar="COL=NUMBER"),
]
Assume = Annotated[
    str | None, typer.Option("--assume-count", help="Rows you assume a group has, for averages.", metavar="N")
]
MaxTotal = Annotated[
    str | None, typer.Option("--max-total", help="Rows of one unit that count in this answer, in all.", metavar="N")
]
MaxRows = Annotated[
    str | None, typer.Option("--max-rows", help="Rows of one unit that count in one group.", metavar="N")
]
MaxGroups = Annotated[str | None, typer.Option("--max-groups", help="Groups in which one unit counts.", metavar="N")]
MinUnits = Annotated[
    str | None, typer.Option("--min-units", help="Of fewer units no unlisted group is shown.", metavar="N")
]
Cut = Annotated[
    bool | None,
    typer.Option("--cut/--no-cut", help="Also count, for a small part of the price, the units that caps or clamps cut. "
                 "Default: where something else is paid."),
]
Shares = Annotated[
    str | None,
    typer.Option(help="How a file's questions share the price, in proportion, as in 3,1,1.", metavar="NUMBERS"),
]
Confidence = Annotated[str, typer.Option(help="Of the error bars.", metavar="LEVEL")]


@dataclass(frozen=True)
class Asked:
    """What was given of these options, as typed."""

    epsilon: Epsilon = None
    rho: Rho = None
    delta: Delta = None
    spend: Spend = None
    within: Within = None
    weight: Weight = None
    assume_count: Assume = None
    confidence: Confidence = "0.95"
    max_total: MaxTotal = None
    max_rows: MaxRows = None
    max_groups: MaxGroups = None
    min_units: MinUnits = None
    cut: Cut = None
    shares: Shares = None

    @property
    def unpriced(self) -> bool:
        return (self.epsilon, self.rho, self.spend, self.within or None) == (None,) * 4

    def offer(self) -> Asking:
        """The price and how error bars are read, as `Curator.quote` and `Curator.ask` take them. Raises Refusal."""
        if self.shares is not None:
            raise Refusal("--shares says how several questions share a price, and this is one.",
                          cure="Leave it out, or give the questions in a file with --file.")
        return {**self._offer(), "weights": _by_column(self.weight, "weight", "number", "n=2")}

    def batch_offer(self) -> SeveralAsking:
        """The same of several questions. Raises Refusal."""
        shares = None if self.shares is None else [one.strip() for one in self.shares.split(",")]
        return {**self._offer(), **({} if shares is None else {"shares": shares})}

    def _offer(self) -> BatchAsking:
        return {
            "epsilon": self.epsilon, "rho": self.rho, "delta": self.delta, "spend": self.spend,
            "within": _by_column(self.within, "within", "error", "n=50"), "assume_count": self.assume_count,
            "confidence": self.confidence, "cut": self.cut, **self.caps(),
        }

    def caps(self) -> Caps:
        """Contribution bounding of the question's own."""
        return {
            "max_total": self.max_total, "max_rows": self.max_rows, "max_groups": self.max_groups,
            "min_units": self.min_units,
        }

    def unpriced_by(self, question: str) -> bool:
        """Whether neither these options nor the question itself says a price. Raises Refusal."""
        from dpcurator.fronts.options import without_options

        return self.unpriced and not without_options(question)[1].price


def _by_column(given: list[str] | None, option: str, what: str, like: str) -> dict[str, str] | None:
    """What an option says of each column. Raises Refusal."""
    found: dict[str, str] = {}
    for one in given or []:
        for each in one.split(",") if one.count("=") > 1 else [one]:
            name, equals, number = each.rpartition("=")
            if not equals or not name.strip():
                raise Refusal(
                    f"--{option} takes column={what}, not {each!r}.", cure=f"Write it as in --{option} {like}."
                )
            found[name.strip()] = number.strip()
    return found or None


NOTHING = Asked()


def priced(function: Callable[..., None]) -> Callable[..., None]:
    """`function` with these options in place of its parameter `asked`, after its first."""
    hints = get_type_hints(function, include_extras=True)
    declared = inspect.signature(function).parameters.values()
    first, *others = (one.replace(annotation=hints[one.name]) for one in declared if one.name != "asked")
    kinds = get_type_hints(Asked, include_extras=True)
    keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
    options = [inspect.Parameter(f.name, keyword, default=f.default, annotation=kinds[f.name]) for f in fields(Asked)]

    @functools.wraps(function)
    def gathered(**given: Any) -> None:
        asked = Asked(**{option.name: given.pop(option.name) for option in options})
        function(asked=asked, **given)

    parameters = [first, *options, *others]
    gathered.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer reads
    gathered.__annotations__ = {one.name: one.annotation for one in parameters}
    return gathered


def question_text(question: str | None) -> str:
    """The SQL itself; - stands for standard input. Raises Refusal when there is none."""
    if question is None:
        raise Refusal("there is no question.", cure='Write it in quotes, as in "SELECT COUNT(*) FROM visits".')
    return sys.stdin.read().removeprefix("\ufeff") if question == "-" else question


def questions_of(file: Path, question: str | None, asked: Asked) -> tuple[str, ...]:
    """The questions of a file. Raises Refusal, or Misconfigured when the file cannot be read."""
    from dpcurator.fronts.statements import statements

    if question is not None:
        raise Refusal("a question and --file are two ways of asking.", cure="Leave out one of them.")
    if asked.weight:
        raise Refusal("--weight is for one question.", cure="Leave it out, or name errors, as in --within 1:n=50.")
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise Misconfigured("the questions cannot be read.", where=str(file), cure="Name a text file.") from None
    found = statements(text)
    if not found:
        raise Refusal("the file holds no question.", where=str(file), cure="Write one SELECT in it, or more.")
    return found
