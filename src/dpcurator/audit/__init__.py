"""An independent witness: point it at anything that claims a guarantee, and get a counterexample or an honest shrug.

    dp.audit(mechanism, claim=dp.Pure(1), neighbours="add-remove", domain=(0, 100))   -> a Report

It says "violation found (certain)", "violation found" or "no violation found", and never "private": not finding is no
proof. It imports neither accounting nor pricing, so what they get wrong it does not repeat. One concept a file:

    claims    what is promised, and when the chances of an event contradict it
    bound     limits of a chance from counts (Clopper and Pearson), certified
    pairs     neighbouring inputs that have caught mistakes before
    drawn     outcomes of any shape as columns            features    numbers read off an outcome
    search    the event whose chances differ most         learned     scores fitted to half of the draws
    exact     divergences of laws given exactly           laws        who gives its law, and enumeration of entropy
    blackbox  search on one part, count on another        shrink      a small witness
    report    what was found, in words                    run         `audit` itself
    taken     inputs and outcomes that nobody changes, and when two outcomes are one

The package is callable, since `dp.audit(...)` is its one verb and importing a package puts it under its own name.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """This package, which can be called as its function `audit`."""

    def __call__(self, *args: Any, **named: Any) -> Any:
        from dpcurator.audit.run import audit

        return audit(*args, **named)


audit = sys.modules[__name__]
audit.__class__ = _Callable
