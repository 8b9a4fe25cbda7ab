"""A uniform real that is drawn only as far as it is looked at.

U in [0, 1) begins as a word w of some bits, which says U is in [w, w+1] / 2**bits. Whatever is asked of U is answered
from that bracket if it can be, else 64 more bits are appended and it is asked again: so the answer has the distribution
of one exact real U, though finitely many bits are ever drawn. Almost every draw is decided by its first word, in floats
whose error is bounded in the module that uses them; the rest (under 2**-30 of draws) come here.
Checked in tests/samplers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dpcurator.entropy import Entropy, SystemEntropy

WORD = 64
CHUNK = 16384  # draws made at a time; 128 KB a buffer, so that the buffers of a chunk stay in the cache

Answer = TypeVar("Answer")
_SYSTEM = SystemEntropy()


def settle(word: int, bits: int, entropy: Entropy, answer: Callable[[int, int], Answer | None]) -> Answer:
    """The answer for the real that begins with `word`; `answer(w, bits)` is None while w leaves a doubt."""
    while (found := answer(word, bits)) is None:
        word, bits = word << WORD | entropy.bits(WORD), bits + WORD
    return found


def source(entropy: Entropy | None) -> Entropy:
    """The entropy to use: the operating system's unless another was handed in."""
    return _SYSTEM if entropy is None else entropy
