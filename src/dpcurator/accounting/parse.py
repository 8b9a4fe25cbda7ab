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
from dpcurator.errors import Refusal, closest
from dpcurator.numbers import rational, whole
from dpcurator.privacy.families import spelling as families
from dpcurator.privacy.families.spelling import SPELLINGS
from dpcurator.privacy.loss import Loss

_MOST = 100_000  # characters
_TERM = re.compile(
    r"\s*(?:(\d[\d_]{0,15})\s*\*\s*)?"
    r"(?:(poisson|fixed_size)\s*\(\s*([^=,()]{1,80}?)\s*,\s*([a-z_]{1,40})\s*\(([^()]*)\)\s*\)"
    r"|([A-Za-z_]{1,40})\s*\(([^()]*)\))\s*"
)
_RUNS: dict[str, Any] = {"dpsgd": dpsgd, "dpftrl": dpftrl}
_WORDS = {"sampling", "neighbours", "factor"}  # parameters that are no numbers
_AS_IN = {
    "dpsgd": "Write dpsgd(noise_multiplier=1.1, batch=256, rows=60000, epochs=60).",
    "dpftrl": "Write dpftrl(noise_multiplier=4, steps=1000, factor=tree).",
}
_MEANT = {  # parameters of dpsgd by the names that other libraries give them
    "batch_size": "batch", "expected_batch_size": "batch", "sample_rate": "rate", "q": "rate",
    "sigma": "noise_multiplier", "noise": "noise_multiplier", "num_examples": "rows", "dataset_size": "rows",
    "sample_size": "rows", "n": "rows", "num_steps": "steps", "iterations": "steps", "max_batch_size": "largest_batch",
}  # fmt: skip
_GROUPED = re.compile(r"(?<=\d)_(?=\d)")  # as in 60_000
_RATE_NAMED = re.compile(r"\s*(?:[\d_]+\s*\*\s*)?(poisson|fixed_size)\s*\(\s*[a-z]+\s*=\s*([^=,()]{1,80}?)\s*,")
_TIMES_AFTER = re.compile(r"\*\s*(\d[\d_]{0,15})\s*(?:\+|$)")
_PARAMETER = re.compile(r"\s*([a-z_0-9]{1,40})\s*=\s*([^=,]{1,80}?)\s*")


def spelled(text: str) -> Composition:
    """The composition that `text` writes. Raises Refusal for anything else, naming the part."""
    if len(text) > _MOST:
        raise Refusal("A composition is written in at most 100,000 characters.", cure="Give a file instead.")
    parts, at = list[tuple[Loss, int]](), 0
    while True:
        term = _TERM.match(text, at)
        if term is None:
            raise _not_understood(text, at)
        count, way, rate, sampled_name, sampled_inside, name, inside = term.groups()
        times = whole(_GROUPED.sub("", count or "1"), name="count")
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
            after = _TIMES_AFTER.match(text, at)
            cure = "Write + between two losses."
            if after is not None:
                cure = f"Write {after[1]} * {text[term.start() : at].strip()}: how often comes first."
            raise Refusal(f"A + is missing before {text[at : at + 40]!r}.", cure=cure)
        at += 1


def _not_understood(text: str, at: int) -> Refusal:
    named = _RATE_NAMED.match(text, at)
    cure = 'Write as in "100 * laplace(epsilon=0.1) + 20 * gaussian(sigma=10)".'
    if named is not None:
        cure = f"Write the rate without a name, as in {named[1]}({named[2]}, gaussian(sigma=1))."
    return Refusal(f"Not understood from character {at + 1}: {text[at : at + 40]!r}.", cure=cure)


def _build(name: str, inside: str) -> Loss:
    if name not in SPELLINGS:
        known = [*SPELLINGS, *_RUNS]
        near = closest(name, known)
        cure = f"Write {near[0]}(...)." if near else f"Known are {', '.join(known)}."
        raise Refusal(f"{name} is no loss known here.", cure=cure)
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
            has = _AS_IN[name] if name in _RUNS else f"It has {families.parameters_of(name)}."
            raise Refusal(f"{name}({inside.strip()}) has a part that is not parameter=number, each once.", cure=has)
        if match[1] in words:
            given[match[1]] = match[2].strip("\"'")
        else:
            given[match[1]] = rational(_GROUPED.sub("", match[2]), name=match[1])
    if name in _RUNS:
        known = list(signature(_RUNS[name]).parameters)
        for other in given:
            if other not in known:
                near = [_MEANT[other]] if _MEANT.get(other) in known else closest(other, known)
                cure = f"Write {near[0]}=." if near else f"It has {', '.join(known)}."
                raise Refusal(f"{name} has no {other}.", cure=f"{cure} {_AS_IN[name].replace('Write', 'As in', 1)}")
        if "noise_multiplier" not in given:
            raise Refusal(f"{name} lacks noise_multiplier.", cure=_AS_IN[name])
    return given
