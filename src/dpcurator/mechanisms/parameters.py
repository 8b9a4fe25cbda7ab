"""What every mechanism's constructor does: parameters by name, validated in one set of words, then frozen.

`@parameters` makes a frozen dataclass that takes keywords alone, so that eps and delta cannot be swapped (CAL-05), and
turns the mistakes Python would answer with a TypeError (an unknown, a missing or an unnamed parameter) into a Refusal
that lists the parameters there are. What the values may be is checked in each mechanism's `__post_init__`, with
`numbers.positive`, `numbers.rational` and `numbers.whole`. Checked in tests/mechanisms/test_bad_input.py.
"""

from __future__ import annotations

import inspect
from dataclasses import MISSING, dataclass, fields
from fractions import Fraction
from functools import wraps
from typing import Any, TypeVar, dataclass_transform

from dpcurator.errors import Refusal
from dpcurator.numbers import positive
from dpcurator.numbers.readable import readable

T = TypeVar("T")


def error_level(beta: object) -> Fraction:
    """beta, the probability that an error bar misses, as an exact rational in (0, 1). Raises Refusal for any other."""
    exact = positive(beta, name="beta")
    if exact >= 1:
        raise Refusal(
            "beta, the probability that the error bar misses, must be below 1.", cure="Write beta as in 0.05."
        )
    return exact


@dataclass_transform(frozen_default=True, kw_only_default=True)
def parameters(made: type[T]) -> type[T]:
    """The class as a frozen dataclass of keyword-only fields, whose constructor raises Refusal for other calls."""
    if made.__repr__ is object.__repr__:
        made.__repr__ = readable  # type: ignore[method-assign]
    frozen: Any = dataclass(frozen=True, kw_only=True)(made)
    plain = frozen.__init__
    known = [one.name for one in fields(frozen) if one.init]
    needed = [one.name for one in fields(frozen) if one.init and one.default is one.default_factory is MISSING]

    @wraps(plain)
    def checked(self: Any, *unnamed: object, **named: object) -> None:
        wrong = None
        if unnamed:
            wrong = f"{frozen.__name__} takes its parameters by name, and got {len(unnamed)} without one."
        elif unknown := [name for name in named if name not in known]:
            wrong = f"{frozen.__name__} has no parameter {', '.join(unknown)}."
        elif missing := [name for name in needed if name not in named]:
            wrong = f"{frozen.__name__} needs {' and '.join(missing)}."
        if wrong:
            optional = [name for name in known if name not in needed]
            cure = f"Write {frozen.__name__}({', '.join(f'{name}=...' for name in needed)})."
            for name in named:
                if name not in known and hasattr(frozen, f"with_{name}"):
                    cure = f"Write {frozen.__name__}.with_{name}({name}=..., ...)."
            raise Refusal(wrong, cure=f"{cure} Optional: {', '.join(optional)}." if optional else cure)
        plain(self, **named)

    shown = inspect.signature(plain)
    given = [one.replace(annotation=str(one.annotation).replace("Fraction", "Spelled"))
             for one in shown.parameters.values()]  # as people may write it; kept as the exact number
    checked.__signature__ = shown.replace(parameters=given)  # type: ignore[attr-defined]
    frozen.__init__ = checked
    return frozen  # type: ignore[no-any-return]
