"""A counterexample to what a function claims, or none found: `dpcurator audit`. It reads no private data by itself.

It runs the function that it is given. Exit codes: 0 no violation found, 3 violation found, 2 your question.
Checked in tests/cli/test_audit.py.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpcurator.cli.application import AsJson, command, show, show_json
from dpcurator.cli.guard import quiet, within
from dpcurator.cli.progress import progress
from dpcurator.errors import Refusal
from dpcurator.numbers import positive

if TYPE_CHECKING:
    from dpcurator.auditing.claims import Claim

_VIOLATED = 3
Target = Annotated[str, typer.Argument(help="The function: module:name or file.py:name.", metavar="FUNCTION")]
Epsilon = Annotated[str | None, typer.Option(help="The claimed epsilon.", metavar="NUMBER")]
Delta = Annotated[str | None, typer.Option(help="The claimed delta, with --epsilon.", metavar="NUMBER")]
Rho = Annotated[str | None, typer.Option(help="The claimed rho, instead of epsilon.", metavar="NUMBER")]
Two = Annotated[
    tuple[str, str] | None,
    typer.Option("--pair", help='Two neighbouring inputs, as in "[0, 1]" "[0, 1, 1]".', metavar="A B"),
]
Neighbours = Annotated[
    str | None,
    typer.Option(help="What to try without a pair: add-remove, replace-one, vector or number.", metavar="NAME"),
]
Bounds = Annotated[tuple[str, str] | None, typer.Option(help="Of a row, a number.", metavar="LOW HIGH")]
Values = Annotated[str | None, typer.Option(help='All a row can be, as in "[1, 2, 3]".', metavar="LIST")]
Samples = Annotated[str, typer.Option(help="Draws of each input to count on.", metavar="NUMBER")]
Seconds = Annotated[str, typer.Option(help="When to stop.", metavar="NUMBER")]
Confidence = Annotated[str, typer.Option(help="That all that is said holds.", metavar="LEVEL")]
Bits = Annotated[bool, typer.Option("--bits/--no-bits", help="Look at the last bits of floats too.")]


@command(name="audit", epilog="Example: dpcurator audit release.py:noisy_sum --epsilon 1 --neighbours add-remove "
                              "--bounds 0 100")
def audit(
    function: Target,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    pair: Two = None,
    neighbours: Neighbours = None,
    bounds: Bounds = None,
    values: Values = None,
    samples: Samples = "200000",
    seconds: Seconds = "60",
    confidence: Confidence = "0.999999",
    bits: Bits = True,
    as_json: AsJson = False,
) -> None:
    """Look for a counterexample to what a function of one number or one list of rows claims."""
    from dpcurator.auditing.run import audit as looking

    limit = float(positive(seconds, name="seconds"))
    with progress(_so_far, quiet=as_json) as told, quiet(), within(2 * limit + 10):
        report = looking(
            _function(function), pair=None if pair is None else tuple(_read(one) for one in pair),
            claim=_claim(epsilon, delta, rho), neighbours=neighbours, domain=_domain(bounds, values), samples=samples,
            seconds=seconds, confidence=confidence, progress=told, bits=bits,
        )
    show_json(report.as_json()) if as_json else show(report)
    if report.violated:
        raise typer.Exit(_VIOLATED)


def _claim(epsilon: str | None, delta: str | None, rho: str | None) -> Claim:
    from dpcurator.auditing.claims import Approximate, Zcdp

    if (epsilon is None) == (rho is None) or (rho is not None and delta is not None):
        raise Refusal("Say what is claimed.", cure="Write --epsilon 1, --epsilon 1 --delta 1e-6, or --rho 0.5.")
    return Zcdp(rho) if rho is not None else Approximate(epsilon or "0", delta or "0")


def _domain(bounds: tuple[str, str] | None, values: str | None) -> Any:
    if bounds is not None and values is not None:
        raise Refusal("Give --bounds or --values, not both.")
    if bounds is not None:
        ends = tuple(_read(end) for end in bounds)
        if not all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends):
            raise Refusal("--bounds are two numbers.", cure="Write --bounds 0 100, or --values for what a row can be.")
        return ends
    return None if values is None else _read(values)


def _read(text: str) -> Any:
    """JSON, with NaN and Infinity; any other text is itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _function(target: str) -> Callable[..., Any]:
    place, _, name = target.rpartition(":")
    if not place or not name:
        raise Refusal("The function is named by its module or file.", cure="Write module:function or file.py:function.")
    try:
        if place.endswith(".py"):
            spec = importlib.util.spec_from_file_location(Path(place).stem, place)
            if spec is None or spec.loader is None or not Path(place).is_file():
                raise FileNotFoundError
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            sys.path.insert(0, str(Path(place).resolve().parent))
            spec.loader.exec_module(module)
        else:
            sys.path.insert(0, str(Path.cwd()))
            module = importlib.import_module(place)
    except (Exception, SystemExit) as error:
        raise Refusal(
            f"{place} cannot be imported: {type(error).__name__}.", cure="Import it in Python first."
        ) from None
    found = getattr(module, name, None)
    if not callable(found) and not hasattr(found, "release"):
        raise Refusal(f"{place} has no function {name}.", cure="Name one that it has: a function of the data.")
    function: Callable[..., Any] = found  # or a mechanism, which `audit` takes as well
    return function


def _so_far(what: str, done: int, of: int) -> str:
    return f"{what}: {done:,} of {of:,}"
