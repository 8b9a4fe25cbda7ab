"""Reading a composition as people write it: "100 * laplace(epsilon=0.1) + 20 * gaussian(sigma=10)".

Each term is [count *] loss, a loss name(parameter=number, ...); each family lists its names (`spellings`), and for
each the sets of parameters it may have. On a sample it is poisson(rate, loss), or fixed_size(m/n, loss). Numbers are
exact: 0.1 is one tenth. Nothing is evaluated. Checked in tests/accounting/test_parse.py.
"""

from __future__ import annotations

import re
from fractions import Fraction

from dpcurator.accounting.composition import Composition
from dpcurator.errors import Refusal
from dpcurator.numbers import rational, whole
from dpcurator.privacy.families import spelling as families
from dpcurator.privacy.families.spelling import SPELLINGS
from dpcurator.privacy.loss import Loss

_MOST = 100_000  # characters
_TERM = re.compile(
    r"\s*(?:(\d{1,12})\s*\*\s*)?"
    r"(?:(poisson|fixed_size)\s*\(\s*([^=,()]{1,80}?)\s*,\s*([a-z_]{1,40})\s*\(([^()]*)\)\s*\)"
    r"|([a-z_]{1,40})\s*\(([^()]*)\))\s*"
)
_PARAMETER = re.compile(r"\s*([a-z_0-9]{1,40})\s*=\s*([^=,]{1,80}?)\s*")


def spelled(text: str) -> Composition:
    """The composition that `text` writes. Raises Refusal for anything else, naming the part."""
    if len(text) > _MOST:
        raise Refusal("A composition is written in at most 100,000 characters.", cure="Give a file instead.")
    parts, at = list[tuple[Loss, int]](), 0
    while True:
        term = _TERM.match(text, at)
        if term is None:
            raise Refusal(
                f"Not understood from character {at + 1}: {text[at : at + 40]!r}.",
                cure='Write as in "100 * laplace(epsilon=0.1) + 20 * gaussian(sigma=10)".',
            )
        count, way, rate, sampled_name, sampled_inside, name, inside = term.groups()
        loss = _build(name, inside) if way is None else _build(sampled_name, sampled_inside).sampled(**{way: rate})
        parts.append((loss, whole(count or 1, name="count")))
        at = term.end()
        if at == len(text):
            return Composition(tuple(parts))
        if text[at] != "+":
            raise Refusal(f"A + is missing before {text[at : at + 40]!r}.")
        at += 1


def _build(name: str, inside: str) -> Loss:
    if name not in SPELLINGS:
        raise Refusal(f"{name} is no loss known here.", cure=f"Known are {', '.join(SPELLINGS)}.")
    given: dict[str, Fraction] = {}
    for part in inside.split(",") if inside.strip() else []:
        match = _PARAMETER.fullmatch(part)
        if match is None or match[1] in given:
            raise Refusal(f"{name}({inside.strip()}) has a part that is not parameter=number, each once.")
        given[match[1]] = rational(match[2], name=match[1])
    found = families.spelled(name, given)
    if found is None:
        raise Refusal(f"{name} does not have these parameters.", cure=f"It has {families.parameters_of(name)}.")
    return Loss(found[0], tuple(found[1].items()))
