"""Entropy is fresh for every call: forks and threads share no draw, nothing can be seeded, tapes are marked."""

from __future__ import annotations

import inspect
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dpcurator
from dpcurator import samplers
from dpcurator.entropy import SystemEntropy, TapeEntropy, TapeExhausted

DRAW = """
import os, sys
from fractions import Fraction
from dpcurator.entropy import SystemEntropy
from dpcurator.samplers import discrete_laplace

entropy = SystemEntropy()
entropy.words(1000), entropy.bits(64), discrete_laplace(Fraction(2**62)), discrete_laplace(Fraction(2**62), 9)
def draws():
    words = [*entropy.words(500).tolist(), *entropy.words(10).tolist(), *(entropy.bits(64) for _ in range(100))]
    noise = [*discrete_laplace(Fraction(2**62), 300), *(discrete_laplace(Fraction(2**62)) for _ in range(100))]
    return "\\n".join(map(str, words + noise))
readers = []
for _ in range(4):
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.write(writer, draws().encode())
        os._exit(0)
    os.close(writer)
    readers.append(reader)
print(draws())
for reader in readers:
    with os.fdopen(reader) as pipe:
        print(pipe.read())
    os.wait()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_forks_share_no_draw() -> None:
    """Five processes, 1010 draws of about 64 bits each; two equal by chance: under 1e-12."""
    printed = subprocess.run(
        [sys.executable, "-c", DRAW], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    drawn = printed.split()
    assert len(drawn) == 5 * 1010
    assert len(set(drawn)) == len(drawn)


def test_threads_share_no_draw() -> None:
    entropy = SystemEntropy()
    with ThreadPoolExecutor(8) as pool:
        bulk = list(pool.map(lambda _: entropy.words(2000).tolist(), range(16)))
        small = list(pool.map(lambda _: entropy.bits(64), range(2000)))
    drawn = [word for words in bulk for word in words] + small
    assert len(set(drawn)) == len(drawn) == 34_000


@pytest.mark.parametrize("n", [0, 1, 64, 65, 1000, 2**16, 2**16 + 1, 3 * 2**16 + 5])
def test_words_are_uniform_and_as_many_as_asked(n: int) -> None:
    """Each of the 64 bit places is set in half the words, within 7 standard deviations (chance 64 * 3e-12)."""
    words = SystemEntropy().words(n)
    assert words.shape == (n,)
    assert words.dtype == np.uint64
    if n >= 1000:
        assert len(set(words.tolist())) == n
        places = [int(((words >> np.uint64(place)) & np.uint64(1)).sum()) for place in range(64)]
        assert max(abs(count - n / 2) for count in places) < 3.5 * n**0.5


def test_bits_have_the_asked_length() -> None:
    entropy = SystemEntropy()
    assert entropy.bits(0) == 0
    for k in (1, 7, 8, 9, 63, 64, 65, 1000):
        drawn = [entropy.bits(k) for _ in range(200)]
        assert all(0 <= value < 2**k for value in drawn)
        assert any(value >> (k - 1) for value in drawn)
        assert not all(value >> (k - 1) for value in drawn)


def test_no_state_and_no_seed() -> None:
    assert SystemEntropy.__slots__ == ()
    assert SystemEntropy().releasable is True
    for function in (SystemEntropy, *(getattr(samplers, name) for name in samplers.__all__)):
        assert not {"seed", "random_state", "rng"} & set(inspect.signature(function).parameters)


def test_a_tape_replays_and_ends_and_is_not_releasable() -> None:
    tape = TapeEntropy("101" + "1" * 64)
    assert (tape.bits(2), tape.bits(1), tape.bits(0)) == (2, 1, 0)
    assert tape.words(1).tolist() == [2**64 - 1]
    with pytest.raises(TapeExhausted) as end:
        tape.bits(3)
    assert end.value.wanted == 3
    assert TapeEntropy.of_words([1, 2]).words(2).tolist() == [1, 2]
    assert tape.releasable is False


def test_importing_the_package_loads_no_heavy_library() -> None:
    code = "import sys, dpcurator; print([m for m in ('flint', 'cryptography', 'numpy', 'duckdb') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout
    assert found.strip() == "[]", dpcurator.__name__
