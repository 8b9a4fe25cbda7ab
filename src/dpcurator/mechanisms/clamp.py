"""Answers into a range, after the noise.

Definition  clamp(answer, low, high) = min(max(answer, low), high), for one answer or an array of them.
Promise     Free: it is a function of the released answer and of public constants, so it loses nothing (post-processing:
            Dwork, Roth 2014, proposition 2.1). An answer that lies in the range anyway only comes nearer to the truth,
            as a count to 0 and above, or a variance in [L, U] to [0, (U - L)**2 / 4] (Popoviciu 1935).
Not so      Noise that is cut off itself, or drawn again until the answer fits: then some outcome has mass under one
            data set and none under its neighbour (the loss is infinite), or each has its own normalising constant (the
            loss passes epsilon). tests/mechanisms/test_laplace.py enumerates all three.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpcurator.errors import Refusal
from dpcurator.numbers import rational
from dpcurator.numbers.coerce import double_of
from dpcurator.numbers.rational import Spelled


def clamp(value: Any, low: Spelled, high: Spelled) -> Any:
    """Clamps a released answer to a public range, for free: min(max(answer, low), high).

    A function of the released answer and of public constants reveals nothing more (post-processing). An answer whose
    truth lies in the range only comes nearer to it. The noise itself may not be cut off, nor drawn again.

    Parameters:
        value: a released answer: float, int, Fraction, or an array of floats or ints of any shape.
        low, high: numbers, public constants, low <= high, in the answer's unit; a float or an array meets the doubles
            nearest to them.

    Returns the same kind and shape. Raises Refusal for other values.

    >>> import dpcurator as dp
    >>> dp.clamp(-3.7, 0, 100), dp.clamp(12, 0, 100)
    (0.0, 12)

    Source: Dwork, Roth 2014, proposition 2.1.
    """
    least, most = rational(low, name="low"), rational(high, name="high")
    if least > most:
        raise Refusal("low is above high.", cure="Write clamp(answer, 0, 100).")
    if isinstance(value, float):
        return min(max(value, double_of(least)), double_of(most))
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return min(max(value, _same(least)), _same(most))
    import numpy as np

    values = np.asarray(value)
    if values.dtype == object:
        out = np.empty(values.shape, dtype=object)
        out.flat[:] = [clamp(one, least, most) for one in values.flat]
        return out
    if values.dtype.kind not in "fiu":
        raise Refusal("An answer is a number, or an array of numbers.")
    if values.dtype.kind == "f" or least.denominator * most.denominator != 1:
        return np.clip(values.astype(np.float64), double_of(least), double_of(most))
    return np.clip(values, int(least), int(most))


def _same(end: Fraction) -> int | Fraction:
    return int(end) if end.denominator == 1 else end
