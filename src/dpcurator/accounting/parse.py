"""Reading a composition as people write it: "100 * laplace(epsilon=0.1) + 20 * gaussian(sigma=10)".

Each term is [count *] loss, a loss name(parameter=number, ...); each family lists its names (`spellings`), and for each
the sets of parameters it may have. On a sample it is poisson(rate, loss), or fixed_size(m/n, loss). Numbers are exact:
0.1 is one tenth. A training run is dpsgd(noise_multiplier=1.1, batch=256, rows=60000, epochs=60), with the parameters
of `dp.dpsgd`; dpftrl(noise_multiplier=4, steps=1000, factor=tree) one of `dp.dpftrl`. Nothing is evaluated. Checked in
tests/accounting/test_parse.py.
"""

from __future__ import annotations

import re
from inspect import signature
from typing import Any

from dpcurator.accounting.composition import Composition
from dpcurator.accounting.factorisation import dpftrl
from dpcurator.accounting.training import dpsgd
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
_RUNS: dict[str, Any] = {"dpsgd": dpsgd, "dpftrl": dpftrl}
_WORDS = {"sampling", "neighbours", "factor"}  # parameters that are no numbers
_AS_IN = {
    "dpsgd": "Write dpsgd(noise_multiplier=1.1, batch=256, rows=60000, epochs=60).",
    "dpftrl": "Write dpftrl(noise_multiplier=4, steps=1000, factor=tree).",
}
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
        times = whole(count or 1, name="count")
        if name in _RUNS:
            run = _RUNS[name](**_given(name, inside, _WORDS))
            parts += [(loss, single * times) for loss, single in run.parts]
        else:
            loss = _build(name, inside) if way is None else _build(sampled_name, sampled_inside).sampled(**{way: rate})
            parts.append((loss, times))
        at = term.end()
        if at == len(text):
            return Composition(tuple(parts))
        if text[at] != "+":
            raise Refusal(f"A + is missing before {text[at : at + 40]!r}.")
        at += 1


def _build(name: str, inside: str) -> Loss:
    if name not in SPELLINGS:
        raise Refusal(f"{name} is no loss known here.", cure=f"Known are {', '.join([*SPELLINGS, *_RUNS])}.")
    given = _given(name, inside)
    found = families.spelled(name, given)
    if found is None:
        raise Refusal(f"{name} does not have these parameters.", cure=f"It has {families.parameters_of(name)}.")
    return Loss(found[0], tuple(found[1].items()))


def _given(name: str, inside: str, words: frozenset[str] | set[str] = frozenset()) -> dict[str, Any]:
    """The parameters, each an exact number but for those of `words`. Raises Refusal."""
    given: dict[str, Any] = {}
    for part in inside.split(",") if inside.strip() else []:
        match = _PARAMETER.fullmatch(part)
        if match is None or match[1] in given:
            raise Refusal(f"{name}({inside.strip()}) has a part that is not parameter=number, each once.")
        given[match[1]] = match[2] if match[1] in words else rational(match[2], name=match[1])
    known = set(signature(_RUNS[name]).parameters) if name in _RUNS else set(given)
    if name in _RUNS and not {"noise_multiplier"} <= set(given) <= known:
        raise Refusal(
            f"{name} does not have these parameters, or lacks noise_multiplier.",
            cure=f"{_AS_IN[name]} It has {', '.join(sorted(known))}.",
        )
    return given
