"""What many releases reveal together: `dpcurator account`. It reads no data. Checked in tests/cli/test_account.py."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpcurator.cli.application import AsJson, command, show, show_json
from dpcurator.cli.progress import progress
from dpcurator.errors import Refusal
from dpcurator.values import read_json

if TYPE_CHECKING:
    from dpcurator.accounting import Composition
    from dpcurator.accounting.pld.certified import Bounds

_FIGURES = 8
Losses = Annotated[
    str | None,
    typer.Argument(
        help='The losses, as in "100 * laplace(epsilon=0.1) + gaussian(sigma=10)"; on samples of the rows, as in '
        '"1000 * poisson(0.01, gaussian(sigma=1))" or "fixed_size(100/10000, laplace(epsilon=1))"; a training run, as '
        'in "dpsgd(noise_multiplier=1.1, batch=256, rows=60_000, epochs=60)" or "dpftrl(noise_multiplier=4, steps=9, '
        'factor=tree)".',
        metavar="LOSSES",
    ),
]
File = Annotated[Path | None, typer.Option("--file", help="A JSON list of losses instead.", metavar="FILE")]
Delta = Annotated[str | None, typer.Option("--delta", help="Bound epsilon at this delta.", metavar="NUMBER")]
Epsilon = Annotated[str | None, typer.Option("--epsilon", help="Bound delta at this epsilon.", metavar="NUMBER")]
Accuracy = Annotated[str, typer.Option(help="Relative width of the bracket to work for.", metavar="NUMBER")]
Seconds = Annotated[str, typer.Option(help="When to stop making it narrower.", metavar="NUMBER")]


@command(name="account", epilog='Example: dpcurator account "100 * laplace(epsilon=0.1)" --delta 1e-9')
def account(
    losses: Losses = None,
    file: File = None,
    delta: Delta = None,
    epsilon: Epsilon = None,
    accuracy: Accuracy = "1e-4",
    seconds: Seconds = "30",
    as_json: AsJson = False,
) -> None:
    """Bound what many releases reveal together, from their losses alone."""
    found = _read(losses, file)
    if (delta is None) == (epsilon is None):
        raise Refusal("Give either --delta or --epsilon.", cure="Write --delta 1e-5.")
    with progress(_so_far, quiet=as_json) as told:
        made = found.bracket(delta=delta, epsilon=epsilon, accuracy=accuracy, seconds=seconds, progress=told)
    try:
        near: float | None = found.estimate(delta=delta, epsilon=epsilon)
    except Refusal:  # of a family whose law is not known, or a delta of 0
        near = None
    if as_json:
        show_json(made.as_json() | {"estimate": near, "composition": found.as_json()})
        return
    given = "delta" if made.quantity == "epsilon" else "epsilon"
    rows = [
        (f"{made.quantity} at {given} {delta or epsilon}", f"at most {rounded(made.upper, up=True)}", made.method),
        ("", f"at least {rounded(made.lower, up=False)}", "certified"),
    ]
    if near is not None:
        rows.append(("", f"about {near:.{_FIGURES}g}", "an estimate, which bounds nothing"))
    first, second = (max(len(row[i]) for row in rows) for i in (0, 1))
    for name, bound, note in rows:
        show(f"{name:{first}}  {bound:{second}}  {note}")


def _so_far(found: Bounds, seconds: float) -> str:
    most = "not yet bounded" if found.upper is None else f"at most {rounded(found.upper, up=True)}"
    return f"{seconds:4.0f} s: {most}, at least {rounded(found.lower, up=False)}; on a finer grid ..."


def _read(losses: str | None, file: Path | None) -> Composition:
    from dpcurator.accounting.composition import Composition
    from dpcurator.accounting.parse import spelled

    if (losses is None) == (file is None):
        raise Refusal("Give the losses, or a file of them.", cure='Write "100 * laplace(epsilon=0.1)" --delta 1e-9.')
    if losses is not None:
        return spelled(losses)
    assert file is not None
    try:
        return Composition.from_json(read_json(file.read_text("utf-8-sig")))
    except (OSError, ValueError):
        raise Refusal("The file cannot be read as JSON.", where=str(file)) from None


def rounded(value: Fraction, *, up: bool) -> str:
    """Eight figures, outward."""
    from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

    context = Context(prec=_FIGURES, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    shown = context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context)
    return f"{shown:f}" if abs(shown) >= Decimal("1e-4") or not shown else f"{shown:e}"
