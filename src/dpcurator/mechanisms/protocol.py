"""What every mechanism has: one of three interfaces, and a row of facts that the rest of the library reads.

`Noise` is added to an answer, `Selection` chooses one of a list of public outcomes, `LocalReport` is made by each
person of their own value. A protocol says which verbs a class has and what each promises; a `Row` says what others need
to know of it without asking its class by name: where it is, which of its verbs take data and how neighbouring data are
compared there, what its outcomes are, and what it is called on the command line. How it is calibrated is on the class
itself (privacy/calibration.py). The rows are in mechanisms/__init__.py. Checked in tests/mechanisms/test_registry.py.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

if TYPE_CHECKING:  # the rows are read by `import dpcurator`, which must stay light
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import NDArray

    from dpcurator.entropy import Entropy
    from dpcurator.numbers import Enclosure
    from dpcurator.privacy.calibration import Calibration
    from dpcurator.privacy.loss import Loss


class Mechanism(Protocol):
    """Frozen exact parameters, validated by the constructor, which raises Refusal; equal parameters are equal."""

    calibration: ClassVar[Calibration]
    """Which privacy parameter a calibrator varies, and how the mechanism is made for a value of it."""


class Noise(Mechanism, Protocol):
    """Independent noise for a numeric answer, with an exact distribution on whole numbers or on a public grid.

    `loss` is besides: of noise for whole numbers a method that takes the sensitivity, of noise on a grid a property.
    """

    def pmf(self, outcome: Any, /) -> Enclosure:
        """P(noise = outcome), unitless, as two exact numbers that enclose it; they sum to one over all outcomes."""

    def sample(self, size: int, entropy: Entropy | None = None) -> NDArray[Any]:
        """`size` independent draws with exactly these probabilities, in the query's unit; shape (size,)."""

    def error(self, beta: Any, /) -> Fraction | int:
        """The least m with P(|noise| > m) <= beta, in the query's unit; beta in (0, 1). Raises Refusal for others."""


class Selection(Mechanism, Protocol):
    """One of finitely many public outcomes, chosen at random by private data: scores, records, or a run of queries."""

    @property
    def loss(self) -> Loss:
        """Of one release, for the neighbours and the sensitivity that were declared."""

    def probabilities(self, data: Any, /) -> Iterable[Enclosure] | Mapping[Any, Enclosure]:
        """P(outcome) of every outcome, in order or by name; they sum to one. As private as the data: for study."""


class LocalReport(Mechanism, Protocol):
    """One report of one person's own value, randomised on that person's device before anybody sees it."""

    @property
    def loss(self) -> Loss:
        """Of one report, whatever two values the person may hold."""

    def reports(self) -> Iterable[Hashable]:
        """Every report that can be sent, in a fixed order; often too many to list."""

    def pmf(self, report: Any, value: Hashable) -> Fraction:
        """P(report | value), exactly."""

    def respond(self, value: Hashable, entropy: Entropy | None = None) -> Any:
        """One report of one's own value."""

    def respond_many(self, values: Iterable[Hashable], entropy: Entropy | None = None) -> NDArray[Any]:
        """One report for each value, for studies; they are independent."""

    def error(self, beta: Any, *, reports: int) -> Fraction:
        """How far off one estimated count may be, with probability at least 1 - beta, from so many reports."""


# How the data that a verb takes are compared between neighbours (auditing/replay/arguments.py measures each):
Moves = Literal["nothing", "l1", "l2", "scores", "query", "values", "records", "person", "people"]
# What a mechanism's outcomes are, for whoever lists their probabilities (auditing/exact/laws.py):
Outcomes = Literal["whole noise", "grid noise", "listed", "reports"]


@dataclass(frozen=True, slots=True)
class Sized:
    """Noise that the command line makes of a given size. name: of the size, in legends and in `account`. make: the
    class, a size and a sensitivity, both Fraction > 0, to the noise."""

    name: str
    make: Callable[[Any, Fraction, Fraction], Noise]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One mechanism: its class by name and file (below `dpcurator.mechanisms`), imported when it is first asked for.

    takes: each public verb that draws, and how its data are compared. run: the class of a run that a verb starts, and
    the run's own verbs. spelling: on the command line, of noise that can be drawn there; sized: where it has a size.
    """

    name: str
    file: str
    protocol: type
    outcomes: Outcomes
    takes: Mapping[str, Moves]
    run: tuple[str, Mapping[str, Moves]] | None = None
    spelling: str = ""
    sized: Sized | None = field(default=None, repr=False)

    @property
    def cls(self) -> Any:
        """The class."""
        return self.named(self.name)

    def named(self, name: str) -> Any:
        """The class of this name in the mechanism's file: itself, or that of its runs."""
        return getattr(import_module(f"dpcurator.mechanisms.{self.file}"), name)
