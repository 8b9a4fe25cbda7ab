"""How the class of a mechanism says that it is calibrated: the class attribute `calibration`.

A calibrator knows no mechanism. It varies one privacy parameter, epsilon or rho, of which more means less noise, and
asks the class for the mechanism and its loss at each value. A class without the attribute cannot be calibrated.
Checked in tests/accounting/test_calibrate_every.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from dpcurator.errors import Refusal
from dpcurator.numbers import whole
from dpcurator.privacy.loss import Loss

Given = Mapping[str, Any]  # the mechanism's other parameters, sensitivity among them
Made = tuple[Any, Loss]  # a mechanism, and the loss of one release by it


@dataclass(frozen=True, slots=True)
class Calibration:
    """by: the privacy parameter that is varied. make: (class, its value, other parameters) to mechanism and loss.

    curve: (class, epsilon, delta, other parameters) to the least noise of one release by the mechanism's own curve
    delta(epsilon); None where it has no better one than that of its epsilon or rho. needs_delta: whether the class
    takes a delta and has no default for it.
    """

    by: Literal["epsilon", "rho"]
    make: Callable[[Any, Fraction, Given], Made]
    curve: Callable[[Any, Fraction, Fraction, Given], Made] | None = None
    needs_delta: bool = False


def _with_epsilon(cls: Any, epsilon: Fraction, given: Given) -> Made:
    made = cls(epsilon=epsilon, **given)
    return made, made.loss


BY_EPSILON = Calibration("epsilon", _with_epsilon)  # a class that takes epsilon and has a `loss`


def whole_shift(given: Given) -> int:
    """The sensitivity of noise for whole numbers, which takes no other parameter. Raises Refusal for one."""
    if set(given) - {"sensitivity"}:
        raise Refusal("This noise has a sensitivity and no other parameter.", cure="Leave `given` out.")
    return whole(given.get("sensitivity"), name="sensitivity", least=1)
