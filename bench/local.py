"""The local model: reports a second on both sides, beside plain numpy whose chances are floats.

    python bench/local.py

Prints one line per measurement, of a million reports; each is the best of three. The plain versions compare
`rng.random()` with a float chance, and validate nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dpcurator.mechanisms import HadamardResponse, LocalHashing, RandomisedResponse, UnaryEncoding
from dpcurator.mechanisms.local.hadamard_response import walsh_hadamard

MANY = 10**6


def seconds(work: Callable[[], object]) -> float:
    def once() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return min(once() for _ in range(3))


def told(what: str, ours: Callable[[], object], plain: Callable[[], object], n: int = MANY) -> None:
    own, other = seconds(ours), seconds(plain)
    print(
        f"{what}: {n / own / 1e6:.2f} million reports/s; plain numpy {n / other / 1e6:.2f}; ours/it {other / own:.2f}"
    )


def response(rng: np.random.Generator, held: Any, k: int) -> Any:
    truth = np.e / (np.e + k - 1)
    other = rng.integers(0, k - 1, len(held))
    other += other >= held
    return np.where(rng.random(len(held)) < truth, held, other)


def unary(rng: np.random.Generator, held: Any, k: int) -> Any:
    out = rng.random((len(held), k), dtype=np.float32) < 1 / (np.e + 1)
    out[np.arange(len(held)), held] = rng.random(len(held)) < 0.5
    return out


def hashing(rng: np.random.Generator, held: Any, prime: int, g: int) -> Any:
    a, b = rng.integers(1, prime, len(held)), rng.integers(0, prime, len(held))
    return a, b, response(rng, (a * held + b) % prime % g, g)


def hashed_supports(a: Any, b: Any, reported: Any, prime: int, g: int, k: int) -> Any:
    return [np.count_nonzero((a * x + b) % prime % g == reported) for x in range(k)]


def hadamard(rng: np.random.Generator, held: Any, size: int) -> Any:
    drawn, row = rng.integers(0, size, len(held)), held + 1
    parity = drawn & row
    for shift in (16, 8, 4, 2, 1):
        parity ^= parity >> shift
    return drawn ^ (row & -row) * ((parity & 1) == (rng.random(len(held)) < np.e / (np.e + 1)))


def of_response(rng: np.random.Generator, k: int) -> None:
    held, coin, label = np.arange(MANY) % k, RandomisedResponse(epsilon=1, values=k), f"randomised response, {k} values"
    sent = coin.respond_many(held)
    found = coin.estimate(sent)
    told(f"{label}, respond", lambda: coin.respond_many(held), lambda: response(rng, held, k))
    told(f"{label}, estimate", lambda: coin.estimate(sent).counts, lambda: np.bincount(sent, minlength=k) / 0.46)
    print(f"{label}, exact interval of one value: {seconds(lambda: found.interval(1, '0.05')):.3f} s")
    print(f"{label}, Chernoff intervals of every value: {seconds(lambda: found.intervals('0.05')):.3f} s")


def of_unary(rng: np.random.Generator, k: int) -> None:
    held, bits, label = np.arange(MANY) % k, UnaryEncoding.optimised(epsilon=1, values=k), f"unary encoding, {k} values"
    sent = bits.respond_many(held)
    told(f"{label}, respond", lambda: bits.respond_many(held), lambda: unary(rng, held, k))
    told(f"{label}, estimate", lambda: bits.estimate(sent).counts, lambda: sent.sum(axis=0) / 0.23)


def of_hashing(rng: np.random.Generator, k: int) -> None:
    held, hashes, label = np.arange(MANY) % k, LocalHashing(epsilon=1, values=k), f"local hashing, {k} values"
    prime, g, sent = hashes.prime, hashes.buckets, hashes.respond_many(held)
    a, b, reported = hashing(rng, held, prime, g)
    told(f"{label}, respond", lambda: hashes.respond_many(held), lambda: hashing(rng, held, prime, g))
    told(
        f"{label}, estimate",
        lambda: hashes.estimate(sent).counts,
        lambda: hashed_supports(a, b, reported, prime, g, k),
    )


def of_hadamard(rng: np.random.Generator, k: int) -> None:
    held, rows, label = np.arange(MANY) % k, HadamardResponse(epsilon=1, values=k), f"Hadamard response, {k} values"
    size, sent = rows.size, rows.respond_many(held)
    found = rows.estimate(sent)
    told(f"{label}, respond", lambda: rows.respond_many(held), lambda: hadamard(rng, held, size))
    told(
        f"{label}, estimate",
        lambda: rows.estimate(sent).counts,
        lambda: walsh_hadamard(np.bincount(sent, minlength=size)) / 0.46,
    )
    print(f"{label}, Chernoff intervals of every value: {seconds(lambda: found.intervals('0.05')):.3f} s")


def main() -> None:
    rng = np.random.default_rng()
    for k in (2, 1000):
        of_response(rng, k)
    of_unary(rng, 100)
    of_hashing(rng, 100)
    for k in (1000, 2**20):
        of_hadamard(rng, k)


if __name__ == "__main__":
    main()
