"""A local or smooth sensitivity is no number, shows nothing, and scales no noise."""

from __future__ import annotations

import ast
import copy
import json
import pickle
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from source import naming, nodes

import dpcurator
from dpcurator.errors import Refusal
from dpcurator.mechanisms import DiscreteLaplace
from dpcurator.sensitivity.function import local_sensitivity
from dpcurator.sensitivity.smooth import smooth_sensitivity
from dpcurator.sensitivity.windows import order_statistic

ROOT = Path(dpcurator.__file__).parent
MEDIAN = order_statistic("1/2", lower=0, upper=10**6, grid=1)
DATA = [1, 500_000, 918_273]


def both() -> list[Any]:
    return [local_sensitivity(MEDIAN, DATA), smooth_sensitivity(MEDIAN, DATA, "0.1")]


@pytest.mark.parametrize("use", [
    lambda s: DiscreteLaplace(s), lambda s: DiscreteLaplace(scale=s),
    lambda s: DiscreteLaplace.spending(Fraction(1), sensitivity=s),
    lambda s: DiscreteLaplace(s.in_words_for_study()),
])
def test_no_noise_is_scaled_by_it(use: Callable[[Any], object]) -> None:
    for sealed in both():
        with pytest.raises(Refusal) as caught:
            use(sealed)
        assert "499" not in str(caught.value)


@pytest.mark.parametrize("touch", [
    lambda s: s == 1, hash, int, float, Fraction, lambda s: s + 1, lambda s: s * 2, lambda s: 2 * s, lambda s: s / 2,
    lambda s: s < s, sorted, sum, iter, len, copy.copy, copy.deepcopy, pickle.dumps, json.dumps, vars,
    lambda s: setattr(s, "other", 1), lambda s: max(s, 1),
])
def test_it_is_no_number(touch: Callable[[Any], object]) -> None:
    for sealed in both():
        with pytest.raises((TypeError, AttributeError)):
            touch(sealed)


@pytest.mark.parametrize("show", [repr, str, format, ascii, lambda s: f"{s!r:>60}".strip()])
def test_it_shows_nothing(show: Callable[[Any], str]) -> None:
    assert [show(sealed) for sealed in both()] == ["<LocalSensitivity: sealed>", "<SmoothSensitivity: sealed>"]


def test_a_student_may_read_a_sentence() -> None:
    local, smooth = (sealed.in_words_for_study() for sealed in both())
    assert local == "private: at distance 0 the local sensitivity is 499999, exactly"
    assert smooth.startswith("private: the smooth sensitivity is ")
    assert smooth.endswith(")**1, exactly")


def test_it_is_opened_by_the_mechanism_of_smooth_noise_alone() -> None:
    names = {"ball_for_noise", "is_zero_for_noise"}
    users = {
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*.py")
        if naming(path, *names)
        for node in nodes(path)
        if isinstance(node, ast.Attribute) and node.attr in names
    }
    assert users == {"mechanisms/smooth/smooth_noise.py"}
