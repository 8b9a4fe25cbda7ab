"""What a question says of its own price and caps, in SQL as BigQuery writes it.

    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.1, max_total = 20) city, COUNT(*) FROM visits GROUP BY city

The clause is read before the rest is parsed and blanked out, so that places in messages stay right. Options are names
and numbers, nothing else; each may stand once. Checked in tests/fronts/test_options.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from dpcurator.errors import Refusal
from dpcurator.language.names import nearest
from dpcurator.language.question import NO_CAPS, Caps
from dpcurator.numbers import whole

CAPS: Final = {"max_total": "max_total", "max_rows": "max_rows", "max_groups": "max_groups",
               "max_groups_contributed": "max_groups", "min_units": "min_units",
               "min_privacy_units_per_group": "min_units"}
PRICE: Final = ("epsilon", "delta")
_HEAD: Final = re.compile(
    r"(\s*SELECT)(\s+WITH\s+DIFFERENTIAL_PRIVACY\b)(\s*OPTIONS\s*\(([^()]{0,1000})\))?", re.IGNORECASE
)
_OPTION: Final = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*([^\s=]+)\s*")
_EXAMPLE: Final = (
    "Write it as in SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.1, max_total = 20) COUNT(*) FROM visits."
)


@dataclass(frozen=True, slots=True)
class Options:
    """caps: of this question. price: epsilon and delta as they are written, those that are."""

    caps: Caps = NO_CAPS
    price: tuple[tuple[str, str], ...] = ()


def without_options(text: str) -> tuple[str, Options]:
    """A text with its clause of options blanked out, and what the clause says. Raises Refusal."""
    found = _HEAD.match(text)
    if found is None:
        return text, Options()
    if found[3] is None and re.match(r"\s*OPTIONS\b", text[found.end() :], re.IGNORECASE):
        raise Refusal("the options of the question cannot be read.", where=_place(text, found.end()), cure=_EXAMPLE)
    said: dict[str, str] = {}
    for part in filter(str.strip, (found[4] or "").split(",")):
        option = _OPTION.fullmatch(part)
        if option is None:
            raise Refusal("an option is a name and a number.", where=_place(text, found.start(4)), cure=_EXAMPLE)
        name = option[1].lower()
        if name not in CAPS and name not in PRICE:
            cure = "The catalog says whose the rows are: leave it out." if name == "privacy_unit_column" else nearest(
                name, [*CAPS, *PRICE], "option")
            raise Refusal(f"there is no option {name}.", where=_place(text, found.start(4)), cure=cure)
        known = CAPS.get(name, name)
        if known in said:
            where = _place(text, found.start(4))
            raise Refusal(f"the option {known} is given twice.", where=where, cure="Say it once.")
        said[known] = option[2]
    caps = {name: whole(value, name=name, least=1) for name, value in said.items() if name not in PRICE}
    price = tuple((name, said[name]) for name in PRICE if name in said)
    blank = "".join(letter if letter == "\n" else " " for letter in text[found.end(1) : found.end()])
    return text[: found.end(1)] + blank + text[found.end() :], Options(Caps(**caps), price)


def _place(text: str, at: int) -> str:
    before = text[:at]
    return f"line {before.count(chr(10)) + 1}, column {at - (before.rfind(chr(10)) + 1) + 1}"
