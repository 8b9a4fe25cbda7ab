"""The distribution of the privacy loss L = ln P/Q under P: its atoms as pins, what lies between as masses of cells.

A law with few atoms is all pins. Another is cut into cells of equal width, each with its mass (`cell`), less that of
the pins within. The two ends of a bounded loss are pins as well where a hair's breadth there is heavier than the whole
cell beside it, as in Laplace noise on a fine grid, whose million atoms are no million pins.
Checked in tests/plots/test_loss_distribution.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Protocol

from dpcurator.errors import Refusal
from dpcurator.numbers import Enclosure, whole
from dpcurator.plots.chart import Chart
from dpcurator.plots.drawing import COLOURS, chart, drawn, from_0, linear

_PINS = 101  # atoms that can be seen apart
_SEEN = Fraction(1, 10**6)  # of mass: atoms that are lighter are not drawn, nor missed
_MISSED = Fraction(1, 2000)  # of mass, left out at an end that goes on for ever
_HAIR = Fraction(1, 10**9)  # of a bounded loss


class Atom(Protocol):
    @property
    def loss(self) -> Fraction | Enclosure: ...

    @property
    def mass(self) -> Enclosure: ...


class Distribution(Protocol):
    """As in privacy/distribution.py."""

    @property
    def atoms(self) -> Sequence[Any]: ...

    @property
    def above(self) -> Enclosure: ...

    @property
    def below(self) -> Enclosure: ...

    @property
    def infinite(self) -> Fraction: ...

    @property
    def continuous(self) -> bool: ...

    def tail(self, x: Any, /) -> Enclosure: ...

    def cdf(self, x: Any, /) -> Enclosure: ...

    def cell(self, low: Any, high: Any, /) -> tuple[Enclosure, Enclosure]: ...


class Loss(Protocol):
    def distribution(self, *, atoms: int) -> Any: ...

    def pure_epsilon(self) -> Fraction: ...

    def worst_pair(self) -> Any: ...


def draw_loss_distribution(loss: Loss, *, cells: object = None) -> Chart:
    """loss: a Loss. cells: int from 1 to 400, how many the continuous part is cut into; 20 beside pins, 40 alone.

    Raises Refusal where the law of the loss is not known.
    """
    law: Distribution = loss.distribution(atoms=_PINS)
    wanted = None if cells is None else whole(cells, name="cells", least=1)
    if wanted is not None and wanted > 400:
        raise Refusal("cells must be at most 400.", cure="Leave it out.")
    pins = [(atom.loss, atom.mass) for atom in law.atoms]
    rows: list[dict[str, Any]] = []
    if law.continuous or (law.above + law.below).hi > _SEEN:
        low, high, bounded = _range(loss, law)
        pins = pins if law.continuous else []
        if bounded and not pins:
            pins = _ends(law, low, high)
        rows = _cells(law, pins, low, high, wanted or (20 if pins else 40))
    rows += [
        {"part": "atom", "loss": drawn(at), "mass": drawn(mass), "label": f"{drawn(mass):.3g}"}
        for at, mass in pins
        if mass.hi > _SEEN
    ]
    return _drawn(loss, law, rows)


def _range(loss: Loss, law: Distribution) -> tuple[Fraction, Fraction, bool]:
    """From where to where nearly all of the law lies; and is that all there is?"""
    try:
        most = loss.pure_epsilon()
        return -most, most, True
    except Refusal:
        pass
    high = _edge(lambda x: law.tail(x).hi - law.infinite <= _MISSED)
    return -_edge(lambda x: law.cdf(-x).hi <= _MISSED), high, False


def _edge(beyond: Any) -> Fraction:
    """About the least x from which `beyond` holds; of either sign."""
    low, high = Fraction(-1), Fraction(1)
    while not beyond(high):
        low, high = high, 2 * high
    while beyond(low):
        low, high = 2 * low, low
    for _ in range(10):
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(middle) else (middle, high)
    return high


def _ends(law: Distribution, low: Fraction, high: Fraction) -> list[tuple[Fraction, Enclosure]]:
    hair, cell = (high - low) * _HAIR, (high - low) / 20
    found = [(high, law.cell(high - hair, high)[0], law.cell(high - cell, high - hair)[0]),
             (low, law.cell(low - hair, low)[0], law.cell(low, low + cell)[0])]
    return [(at, mass) for at, mass, beside in found if mass.lo > beside.hi]


def _cells(law: Distribution, pins: Sequence[tuple[Any, Enclosure]], low: Fraction, high: Fraction,
           count: int) -> list[dict[str, Any]]:
    edges = [low + (high - low) * part / count for part in range(count + 1)]
    rows = []
    for first, last in pairwise(edges):
        mass = law.cell(first, last)[0]
        for at, pin in pins:
            if first < at <= last:
                mass -= pin
        held = Enclosure(max(mass.lo, Fraction(0)), max(mass.hi, Fraction(0)))
        rows.append({"part": "cell", "from": drawn(first), "to": drawn(last), "mass": drawn(held)})
    return rows


def _drawn(loss: Loss, law: Distribution, rows: list[dict[str, Any]]) -> Chart:
    pins = [row for row in rows if row["part"] == "atom"]
    has_cells = len(pins) < len(rows)
    words = {
        (True, True): "Pins are losses that many outcomes share; bars, the mass of each cell between.",
        (True, False): "Pins are the losses that there are, with their probabilities.",
        (False, True): "Bars are the mass of each cell.",
    }[bool(pins), has_cells]
    if law.infinite:
        words += f" With probability {drawn(law.infinite):g} the loss is infinite."
    pinned, barred = {"filter": "datum.part == 'atom'"}, {"filter": "datum.part == 'cell'"}
    axis = linear("loss", "privacy loss ln P/Q (nats)", scale={"zero": False, "nice": False, "padding": 28})
    height = from_0("mass", "probability", [row["mass"] for row in rows])
    layers: list[dict[str, Any]] = []
    if has_cells:
        layers.append(
            {
                "transform": [barred],
                "mark": {"type": "rect", "fill": COLOURS[5], "stroke": "white", "strokeWidth": 0.5, "tooltip": True},
                "encoding": {"x": axis | {"field": "from"}, "x2": {"field": "to"}, "y": height, "y2": {"datum": 0}},
            }
        )
    if pins:
        layers += [
            {
                "transform": [pinned],
                "mark": {"type": "rule", "color": COLOURS[1], "strokeWidth": 2},
                "encoding": {"x": axis, "y": height, "y2": {"datum": 0}},
            },
            {
                "transform": [pinned],
                "mark": {
                    "type": "point",
                    "filled": True,
                    "color": COLOURS[1],
                    "size": 60,
                    "opacity": 1,
                    "tooltip": True,
                },
                "encoding": {"x": axis, "y": height},
            },
        ]
    if 0 < len(pins) <= 8:
        layers.append(
            {
                "transform": [pinned],
                "mark": {"type": "text", "dy": -12, "fontSize": 12},
                "encoding": {"x": axis, "y": height, "text": {"field": "label"}},
            }
        )
    pair = str(loss.worst_pair())
    return chart("The distribution of the privacy loss", f"{pair[:1].upper()}{pair[1:]}. {words}", rows, layer=layers)
