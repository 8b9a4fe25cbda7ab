"""The only randomness: uniform words and bits, from the operating system.

Promise     Bulk words are the AES-256-CTR keystream under a key and a nonce drawn from the OS for that call alone, then
            thrown away; small draws are the OS's own bytes. No generator state outlives a call, so a fork or a thread
            has nothing to copy, and there is no seed to set or to steal.
Source      NIST SP 800-38A (counter mode); the forks and seeds of Garfinkel and Leclerc 2020.
Checked     tests/test_entropy.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # a quote draws nothing, and starts faster without numpy
    import numpy as np
    from numpy.typing import NDArray

_SMALL = 64  # words; up to here a call to the OS is cheaper than a cipher
_BLOCK = 1 << 16  # words encrypted at a time
_ZEROS = bytes(8 * _BLOCK)


class Entropy(Protocol):
    """Where samplers get their uniform bits. `releasable` is False for anything but the operating system's."""

    @property
    def releasable(self) -> bool: ...

    def words(self, n: int) -> NDArray[np.uint64]:
        """n independent uniform 64-bit words, shape (n,)."""

    def bits(self, k: int) -> int:
        """A uniform int of k bits, 0 <= it < 2**k."""


class SystemEntropy:
    """The operating system's randomness; it has no state, so one may be shared by anything."""

    __slots__ = ()
    releasable = True

    def words(self, n: int) -> NDArray[np.uint64]:
        import numpy as np

        if n <= _SMALL:
            return np.frombuffer(os.urandom(8 * n), dtype=np.uint64)
        from cryptography.hazmat.primitives.ciphers import Cipher
        from cryptography.hazmat.primitives.ciphers.algorithms import AES
        from cryptography.hazmat.primitives.ciphers.modes import CTR

        stream = Cipher(AES(os.urandom(32)), CTR(os.urandom(16))).encryptor()
        out = np.empty(n + 2, dtype=np.uint64)  # the cipher asks for room for one block more
        room = out.data.cast("B")
        for start in range(0, n, _BLOCK):
            stream.update_into(memoryview(_ZEROS)[: 8 * min(_BLOCK, n - start)], room[8 * start :])
        return out[:n]

    def bits(self, k: int) -> int:
        length = (k + 7) // 8
        return int.from_bytes(os.urandom(length), "big") >> (8 * length - k)


class TapeExhausted(Exception):
    """A tape had too few bits left; `wanted` says how many the next draw asked for."""

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        super().__init__(f"the tape ended before a draw of {wanted} bits")


class TapeEntropy:
    """Replays given bits, for tests; what is drawn from it must not be released.

    tape: text of '0' and '1', read from the left; a word is 64 of them, highest first.
    """

    releasable = False

    def __init__(self, tape: str) -> None:
        self._tape, self.used = tape, 0

    @classmethod
    def of_words(cls, words: Iterable[int]) -> TapeEntropy:
        return cls("".join(format(int(word), "064b") for word in words))

    def words(self, n: int) -> NDArray[np.uint64]:
        import numpy as np

        return np.array([self.bits(64) for _ in range(n)], dtype=np.uint64)

    def bits(self, k: int) -> int:
        if self.used + k > len(self._tape):
            raise TapeExhausted(k)
        self.used += k
        return int(self._tape[self.used - k : self.used] or "0", 2)
