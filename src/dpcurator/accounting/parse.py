"""Reading a composition as people write it: "100 * laplace(epsilon=0.1) + 20 * gaussian(sigma=10)".

Each term is [count *] loss, a loss name(parameter=number, ...); SPELLINGS lists the names, and for each the sets of
parameters it may have. On a sample it is poisson(rate, loss), or fixed_size(m/n, loss). Numbers are
exact: 0.1 is one tenth. Nothing is evaluated. Checked in tests/accounting/test_parse.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction

from dpcurator.accounting.composition import Composition
from dpcurator.errors import Refusal
from dpcurator.numbers import positive, rational, whole
from dpcurator.privacy.loss import Loss

Given = Mapping[str, Fraction]
Build = Callable[[Given], Loss]
_MOST = 100_000  # characters
_TERM = re.compile(
    r"\s*(?:(\d{1,12})\s*\*\s*)?"
    r"(?:(poisson|fixed_size)\s*\(\s*([^=,()]{1,80}?)\s*,\s*([a-z_]{1,40})\s*\(([^()]*)\)\s*\)"
    r"|([a-z_]{1,40})\s*\(([^()]*)\))\s*"
)
_PARAMETER = re.compile(r"\s*([a-z_0-9]{1,40})\s*=\s*([^=,]{1,80}?)\s*")


def _loss(family: str, **parameters: Fraction) -> Loss:
    return Loss(family, tuple(parameters.items()))


def _of(family: str) -> Build:
    return lambda given: _loss(family, **given)


def _noise(family: str, size: str, power: int, parameter: str) -> Build:
    """From a size of noise, to this power the family's own parameter, and a sensitivity that is 1 unless given."""

    def build(given: Given) -> Loss:
        value = positive(given[size], name=size) ** power
        return _loss(family, **{parameter: value, "shift": given.get("sensitivity", Fraction(1))})

    return build


def _of_rho(given: Given) -> Loss:
    return _loss("gaussian", variance=1 / (2 * positive(given["rho"], name="rho")), shift=Fraction(1))


def _of_epsilon(given: Given) -> Loss:
    return _loss("laplace", scale=Fraction(1), shift=given["epsilon"])


def _of_truth(given: Given) -> Loss:
    return _loss("randomised_response", truth=given["truth"], lie=given.get("lie", 1 - given["truth"]))


_L2 = "l2_squared"
# name: for each way to give it, the parameters (those with a ? may be left out) and what they make
SPELLINGS: Mapping[str, Mapping[tuple[str, ...], Build]] = {
    "laplace": {
        ("epsilon",): _of_epsilon,
        ("scale", "sensitivity?"): _noise("laplace", "scale", 1, "scale"),
    },
    "gaussian": {
        ("sigma", "sensitivity?"): _noise("gaussian", "sigma", 2, "variance"),
        ("rho",): _of_rho,
    },
    "discrete_laplace": {("scale", "sensitivity?"): _noise("discrete_laplace", "scale", 1, "scale")},
    "discrete_gaussian": {
        ("sigma", "sensitivity?"): _noise("discrete_gaussian", "sigma", 2, "variance"),
        ("variance", "sensitivity?"): _noise("discrete_gaussian", "variance", 1, "variance"),
    },
    "discrete_gaussian_vector": {("variance", _L2): _of("discrete_gaussian_vector")},
    "pure": {("epsilon",): _of("pure")},
    "approximate": {("epsilon", "delta"): _of("approximate")},
    "exponential": {("epsilon",): _of("bounded_range")},
    "bounded_range": {("epsilon",): _of("bounded_range")},
    "randomised_response": {("epsilon",): _of("pure"), ("truth", "lie?"): _of_truth},
    "unary_encoding": {("p", "q"): _of("unary_encoding")},
}


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
    ways = SPELLINGS.get(name)
    if ways is None:
        raise Refusal(f"{name} is no loss known here.", cure=f"Known are {', '.join(SPELLINGS)}.")
    given: dict[str, Fraction] = {}
    for part in inside.split(",") if inside.strip() else []:
        match = _PARAMETER.fullmatch(part)
        if match is None or match[1] in given:
            raise Refusal(f"{name}({inside.strip()}) has a part that is not parameter=number, each once.")
        given[match[1]] = rational(match[2], name=match[1])
    for names, build in ways.items():
        needed = {one for one in names if not one.endswith("?")}
        if needed <= set(given) <= {one.rstrip("?") for one in names}:
            return build(given)
    told = "; or ".join(", ".join(one.replace("?", " (or not)") for one in names) for names in ways)
    raise Refusal(f"{name} does not have these parameters.", cure=f"It has {told}.")
