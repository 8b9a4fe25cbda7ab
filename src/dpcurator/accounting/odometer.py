"""Privacy odometer: a bound on the loss so far, valid at every moment at once, where no budget was set beforehand.

Definition  E is the sum of the pure epsilons so far, R that of rho. With `delta` and a rho to be tuned to, both fixed
            at the start, l = sqrt(ln(1/delta) / rho), and the bound is
                the lesser of E and (1 + l) R + ln(1/delta) / l;        at R = rho: rho + 2 sqrt(rho ln(1/delta)).
            With delta 0 it is E.
Promise     With probability at least 1 - delta over the answers, on either of two neighbours, at every moment the
            log-ratio of everything seen so far is at most the bound then. Amounts may be adaptively chosen, and so may
            the moment of looking. Tuned to another rho than comes, the bound is larger, not wrong.
Proof       Given the past, E exp(l L) <= exp(l (1+l) rho_i) for a loss L of rho_i (the divergence of order 1 + l). So
            exp(l (sum of L) - l (1+l) R) is a supermartingale that starts at 1, and passes 1/delta ever with
            probability at most delta (Ville). E bounds the log-ratio surely, so the lesser of the two holds on the same
            event.
Limits      A loss that may be infinite (a delta) is refused: spend it from a filter. In memory, as a filter is.
Source      Rogers, Roth, Ullman, Vadhan, NeurIPS 2016 (arXiv 1605.08294); the line: Whitehouse, Ramdas, Rogers, Wu,
            ICML 2023 (arXiv 2203.05481), after Ville 1939.
Checked     tests/accounting/test_filters.py.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from dpcurator.accounting.budget import Meter
from dpcurator.accounting.closed.bounds import split
from dpcurator.accounting.composition import Releases, compose
from dpcurator.accounting.convert import pure_epsilon_of, pure_rho, rho_of
from dpcurator.accounting.rounding import ball_up, down
from dpcurator.errors import Refusal
from dpcurator.numbers import decimal_text, positive, rational
from dpcurator.numbers.arb import ball, precision
from dpcurator.numbers.enclosure import bracket
from dpcurator.numbers.rational import at_least_0
from dpcurator.privacy.sampled import neighbours_of

if TYPE_CHECKING:
    from dpcurator.numbers.rational import Spelled


class Odometer:
    """A privacy odometer: a bound on the privacy loss so far, where no budget was set beforehand.

    With E the sum of the pure epsilons so far, R that of rho, and l = sqrt(ln(1/delta) / tuned_to), the bound is the
    lesser of E and (1 + l) R + ln(1/delta) / l; with delta 0 it is E.

    Promise: with probability at least 1 - delta, at every moment at once the privacy loss of everything released so far
    is at most `epsilon`, also where amounts, and when to look, were chosen by what was seen before.

    Parameters:
        delta: number in [0, 1).
        tuned_to: number > 0, the rho at which the bound is tightest, where delta is above 0; else None. Another rho
            than comes makes the bound larger, not wrong.

    Raises Refusal if only one of delta and tuned_to is given, or one is out of its range.

    >>> import dpcurator as dp
    >>> odometer = dp.Odometer()
    >>> odometer.spend(dp.Laplace(sensitivity=1, epsilon="0.1"))
    >>> odometer.spend(epsilon="0.2")
    >>> odometer.epsilon
    Fraction(3, 10)

    Source: Rogers, Roth, Ullman, Vadhan 2016; Whitehouse, Ramdas, Rogers, Wu 2023 (the line).
    """

    __slots__ = ("_meter", "_slope", "delta")

    def __init__(self, *, delta: Spelled = 0, tuned_to: Spelled | None = None) -> None:
        self.delta = rational(delta, name="delta")
        if not 0 <= self.delta < 1 or (self.delta == 0) != (tuned_to is None):
            raise Refusal(
                "An odometer takes a delta in (0, 1) and the rho it is tuned to, or neither.",
                cure="Write Odometer(delta=1e-6, tuned_to=0.5), or Odometer().",
            )
        self._slope = None if tuned_to is None else self._line(positive(tuned_to, name="tuned_to"))
        self._meter = Meter({"epsilon": None, "rho": None, "without": None})

    def __repr__(self) -> str:
        return f"<Odometer: delta {decimal_text(self.delta)}>"

    def _line(self, rho: Fraction) -> Fraction:
        """l, near the root: any number above 0 is right."""
        with precision(96):
            return down(bracket((-ball(self.delta).log() / ball(rho)).sqrt()).lo)

    def spend(
        self, loss: Releases | None = None, *, epsilon: Spelled | None = None, rho: Spelled | None = None
    ) -> None:
        """Count an amount of epsilon or of rho, or a loss, a mechanism or a composition.

        Raises Refusal if none or several are given, and if the loss may be infinite (has a delta).
        """
        if sum(part is not None for part in (loss, epsilon, rho)) != 1:
            raise Refusal("Give one of a loss, epsilon or rho.", cure="Write spend(loss).")
        pure: Fraction | None = None
        square: Fraction | None = None
        neighbours: str | None = None
        if rho is not None:
            square = at_least_0(rho, name="rho")
        elif epsilon is not None:
            pure = at_least_0(epsilon, name="epsilon")
            square = pure_rho(pure)
        elif loss is not None:
            together = compose(loss).parts
            neighbours = neighbours_of(one for one, _ in together)
            infinite, parts = split(together)
            if infinite:
                raise Refusal("This loss may be infinite, by its delta.", cure="Spend it from an ApproximateFilter.")
            pure = _sum([(pure_epsilon_of(one), count) for one, count in parts])
            square = _sum([(rho_of(one), count) for one, count in parts])
        if (pure if self._slope is None else square) is None:
            raise Refusal(
                "This loss has nothing that this odometer counts.", cure="Give the odometer a delta and a rho."
            )
        without = Fraction(1) if pure is None else Fraction(0)
        amounts = {"epsilon": pure or Fraction(0), "rho": square or Fraction(0), "without": without}
        self._meter.add(amounts, neighbours)

    @property
    def epsilon(self) -> Fraction:
        """The bound on the loss so far; exact where it is the pure sum, else 12 figures, rounded up."""
        spent = self._meter.spent
        if self._slope is None:
            return spent["epsilon"]
        with precision(160):
            line = ball((1 + self._slope) * spent["rho"]) - ball(self.delta).log() / ball(self._slope)
            found = ball_up(line)
        return found if spent["without"] else min(found, spent["epsilon"])


def _sum(found: list[tuple[Fraction | None, int]]) -> Fraction | None:
    known = [count * amount for amount, count in found if amount is not None]
    return sum(known, Fraction(0)) if len(known) == len(found) else None
