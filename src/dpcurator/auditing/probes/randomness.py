"""Randomness: is noise repeated by a fork or a seed, or foretold by earlier outputs?

Each probe is given draw() -> anything, with noise of at least 64 bits in it, or words(n) -> n integers of 32 bits.
Promise     For independent noise "fell" has chance at most 2**-32 in each probe.
Source      Garfinkel, Leclerc 2020; MT19937's tempering: Matsumoto, Nishimura 1998.
Checked     tests/audit/test_probes.py.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from dpcurator.auditing.probes.children import told_by_child
from dpcurator.auditing.probes.probed import Probed

Draw = Callable[[], Any]


def forked(draw: Draw, *, children: int = 3) -> Probed:
    """The same draw in children forked from one process, and in the parent. POSIX only."""
    draw()  # whatever is made at first use is made before the fork
    seen = [_in_child(draw) for _ in range(children)]
    seen.append(repr(draw()))
    fell = len(set(seen)) < len(seen)
    words = "two of them drew the same noise" if fell else "each drew noise of its own"
    return Probed("noise after a fork", fell, f"{children} forks and their parent: {words}")


def _in_child(draw: Draw) -> str:
    told = told_by_child(lambda say: say(repr(draw()).encode()))
    if not told:
        raise RuntimeError("The child drew nothing.")
    return told.decode()


def seeded(draw: Draw) -> Probed:
    """The same draw twice, each after np.random.seed and random.seed of one number. Their states are put back."""
    import numpy as np

    kept, kept_numpy = random.getstate(), np.random.get_state()
    try:
        seen = []
        for _ in range(2):
            random.seed(20)
            np.random.seed(20)
            seen.append(repr(draw()))
    finally:
        random.setstate(kept)
        np.random.set_state(kept_numpy)
    fell = seen[0] == seen[1]
    return Probed("noise by a seed", fell, f"after the same seed, the noise was {'the same' if fell else 'another'}")


def foretold(words: Callable[[int], Sequence[int]], *, ahead: int = 20) -> Probed:
    """Rebuild MT19937 from 624 words, and foretell the next."""
    seen, coming = [int(one) for one in words(624)], [int(one) for one in words(ahead)]
    rebuilt = random.Random()
    rebuilt.setstate((3, (*(untempered(one) for one in seen), 624), None))
    told = [rebuilt.getrandbits(32) for _ in range(ahead)]
    fell = told == coming
    words_ = f"the next {ahead} words {'were' if fell else 'were not'} those of a Mersenne twister rebuilt from 624"
    return Probed("noise foretold", fell, words_)


def untempered(word: int) -> int:
    """The state of MT19937 behind one output: its four shifts undone, from the last."""
    word = _undone(word, lambda x: x >> 18)
    word = _undone(word, lambda x: (x << 15) & 0xEFC60000)
    word = _undone(word, lambda x: (x << 7) & 0x9D2C5680)
    return _undone(word, lambda x: x >> 11)


def _undone(word: int, shifted: Callable[[int], int]) -> int:
    """x with x ^ shifted(x) == word: each turn makes more of its bits right, and 32 turns all."""
    found = word
    for _ in range(32):
        found = word ^ shifted(found)
    return found & 0xFFFFFFFF
