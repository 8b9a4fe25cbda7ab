"""Small naive implementations, one per probe, each with the fault that the probe is for. None is for use."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def laplace(value: float, size: int) -> Any:
    return value + np.random.default_rng(1).laplace(0, 1, size)


def gaussian(value: float, size: int) -> Any:
    return value + np.random.default_rng(1).normal(0, 1, size)


def clipped_sum(low: float, high: float) -> Callable[[list[Any]], float]:
    """In floats, in the order of the rows; nan passes through min and max written this way."""

    def total(rows: list[Any]) -> float:
        found = 0.0
        for row in rows:
            found += low if row < low else high if row > high else row
        return found

    return total


def int64_sum(rows: list[int]) -> int:
    with np.errstate(over="ignore"):
        return int(np.sum(np.array(rows, dtype=np.int64)))


def from_module_generator() -> float:
    """Noise of numpy's one generator, which children of a fork inherit and np.random.seed sets."""
    return float(np.random.laplace())


def words(n: int, generator: random.Random = random.Random(5)) -> list[int]:  # noqa: B008
    return [generator.getrandbits(32) for _ in range(n)]


class Budget:
    """Looks, answers, and then writes down: in memory, without a lock."""

    def __init__(self, allowed: int) -> None:
        self.left = allowed

    def ask(self) -> bool:
        if not self.left:
            return False
        left = self.left
        time.sleep(0.02)  # the answer is worked out
        self.left = left - 1
        return True


class FileBudget:
    """Keeps what was spent in a file, and writes it once the answer is out."""

    def __init__(self, path: Path, allowed: int) -> None:
        self.path, self.allowed = path, allowed

    def ask(self, deliver: Callable[[object], None]) -> None:
        spent = len(self.path.read_text()) if self.path.exists() else 0
        if spent < self.allowed:
            deliver(random.random())
            self.path.write_text("x" * (spent + 1))


def average(rows: list[Any]) -> float:
    """Fails on what is no number."""
    return math.fsum(rows) / len(rows) + random.random()


def counted(rows: list[str]) -> dict[str, float]:
    """By the keys that occur, in the order in which they do."""
    found: dict[str, float] = {}
    for row in rows:
        found[row] = found.get(row, 0) + 1
    return {key: count + random.gauss(0, 1) for key, count in found.items()}


def edges(rows: list[float]) -> list[float]:
    """Of a histogram from the least to the greatest row."""
    return np.histogram_bin_edges(rows, bins=4).tolist()


def cost(rows: list[float]) -> float:
    """Priced by what was read."""
    return 0.1 * sum(row > 50 for row in rows)


def printed(rows: list[float]) -> str:
    """As many characters as the number has."""
    return f"{sum(rows):.0f}"
