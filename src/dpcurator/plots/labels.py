"""What noises and losses are called in a legend: given names, or what is theirs alone. Checked in tests/plots."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, TypeVar

from dpcurator.numbers import decimal_text
from dpcurator.plots.drawing import series

T = TypeVar("T")
_PARAMETERS = ("scale", "sigma", "variance", "epsilon")


def figure(value: Fraction) -> str:
    """A parameter in few figures."""
    return decimal_text(value, digits=6)


def kind(thing: object) -> str:
    """The class in words: "discrete Laplace"."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(thing).__name__).split()
    return " ".join([word.lower() for word in words[:-1]] + words[-1:])


def named(things: Mapping[str, T] | Iterable[T] | T) -> dict[str, T]:
    """Names and things, in order. Raises Refusal as `series` does.

    things: a dict of names, several things, or a single one. Those without a name are told apart by their parameter,
    and by their class where there are several.
    """
    if isinstance(things, Mapping):
        given = {str(name): thing for name, thing in things.items()}
        series(list(given))
        return given
    several: list[Any] = list(things) if isinstance(things, Iterable) else [things]
    classes = {type(thing) for thing in several}
    return dict(zip(series([_name(thing, full=len(classes) > 1) for thing in several]), several, strict=True))


def _name(thing: object, *, full: bool) -> str:
    for parameter in _PARAMETERS:
        value = getattr(thing, parameter, None)
        if isinstance(value, Fraction):
            own = f"{parameter} {figure(value)}"
            return f"{kind(thing)}, {own}" if full else own
    return kind(thing)


def noise_of(things: Iterable[object]) -> str:
    """ "Laplace noise" where all are of one class, else "noise"."""
    classes = {kind(thing) for thing in things}
    return f"{classes.pop()} noise" if len(classes) == 1 else "noise"
