"""One picture: a Vega-Lite version 5 specification with its data, and the files that can be made of it.

The specification needs nothing installed. SVG, PNG and HTML are made by vl-convert (`pip install 'dpcurator[plots]'`),
on this machine; the HTML holds its own scripts, and loads nothing. Checked in tests/plots/test_chart.py.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dpcurator.errors import Misconfigured, Refusal
from dpcurator.numbers import positive

ENDINGS = (".svg", ".png", ".html", ".json")
_MOST_SCALE = 10  # of a PNG: 5,600 pixels wide


class Chart:
    """spec: the specification, a dict. Charts of equal specifications are equal."""

    __slots__ = ("_spec",)

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._spec = copy.deepcopy(dict(spec))

    @property
    def spec(self) -> dict[str, Any]:
        """The specification: a copy, to be changed at will."""
        return copy.deepcopy(self._spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Chart) and self._spec == other._spec

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Chart: {self._spec.get('title', {}).get('text', 'without a title')}>"

    def as_json(self) -> str:
        """The specification as text, for any tool that reads Vega-Lite."""
        return json.dumps(self._spec, ensure_ascii=False, indent=1) + "\n"

    def svg(self) -> str:
        """The picture as SVG. Raises Misconfigured without vl-convert; so do `png` and `html`."""
        return str(_converter("SVG").vegalite_to_svg(self._spec))

    def png(self, *, scale: object = 2) -> bytes:
        """The picture as PNG. scale: pixels for each unit of the specification, above 0 and at most 10."""
        wanted = positive(scale, name="scale")
        if wanted > _MOST_SCALE:
            raise Refusal(f"scale must be at most {_MOST_SCALE}.", cure="Write scale as in 2.")
        return bytes(_converter("PNG").vegalite_to_png(self._spec, scale=float(wanted)))

    def html(self) -> str:
        """A page that holds the picture and all it needs; nothing is loaded from elsewhere."""
        return str(_converter("HTML").vegalite_to_html(self._spec, bundle=True))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the file that the ending asks for: .svg, .png, .html or .json. An older file of that name is replaced.

        Raises Refusal for another ending, Misconfigured where it cannot be written.
        """
        place = Path(path)
        makers: dict[str, Callable[[], str | bytes]] = dict(
            zip(ENDINGS, (self.svg, self.png, self.html, self.as_json), strict=True)
        )
        made = makers[ending_of(place)]()
        try:
            place.write_bytes(made if isinstance(made, bytes) else made.encode("utf-8"))
        except OSError:
            raise Misconfigured(
                "the chart could not be written.", where=str(place), cure="Name a file in a directory you may write to."
            ) from None
        return place

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """What a notebook shows: the specification and, with vl-convert installed, the SVG."""
        shown: dict[str, Any] = {"application/vnd.vegalite.v5+json": self.spec, "text/plain": repr(self)}
        try:
            shown["image/svg+xml"] = self.svg()
        except Misconfigured:
            return shown
        return shown


def can_be_written(path: Path) -> None:
    """That a chart can be made for a file of this name, before any work. Raises Refusal for another ending,
    Misconfigured where vl-convert is wanted and is not installed."""
    ending = ending_of(path)
    if ending != ".json":
        _converter(ending[1:].upper())


def ending_of(path: Path) -> str:
    """The ending, in small letters. Raises Refusal for one that no chart has."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise Refusal(f"a chart's file ends in {', '.join(ENDINGS)}.", where=str(path), cure="Write it as in x.svg.")
    return ending


def _converter(form: str) -> Any:
    try:
        import vl_convert
    except ImportError:
        raise Misconfigured(
            f"{form} is made by vl-convert, which is not installed.",
            cure="Run `pip install 'dpcurator[plots]'`; a .json file needs nothing.",
        ) from None
    return vl_convert
