"""The signature check that is written out: RFC 8032's own vectors, `cryptography` on random and on odd signatures."""

from __future__ import annotations

import random
from hashlib import sha512

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dpcurator.ledger.keys import verify as by_library
from dpcurator.standalone import verify as alone

VECTORS = [  # RFC 8032, section 7.1: tests 1, 2 and 3
    ("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655"
     "141438e7a100b"),
    ("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00"
     "d291612bb0c00"),
    ("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc02"
     "7beceea1ec40a"),
]
ZERO = (0, 1, 1, 0)


def holds(key: bytes, message: bytes, signature: bytes) -> bool:
    try:
        return alone.signed(key, message, signature)
    except (alone.No, LookupError, ValueError):  # `step` turns these into a NO
        return False


def torsion() -> list[tuple[int, int, int, int]]:
    """The eight points whose order divides 8: multiples of one of order 8."""
    for y in range(2, 1000):
        try:
            found = alone.times(alone.Q, alone.decoded(y.to_bytes(32, "little")))
        except alone.No:
            continue
        if alone.encoded(alone.times(4, found)) != alone.encoded(ZERO):
            return [alone.times(k, found) for k in range(8)]
    raise AssertionError


def parts(secret: bytes) -> tuple[int, bytes]:
    """The number behind a key, and what its nonces are made of (RFC 8032, 5.1.5)."""
    digest = sha512(secret).digest()
    number = int.from_bytes(digest[:32], "little") & ((1 << 254) - 8) | 1 << 254
    return number, digest[32:]


@pytest.mark.parametrize(("key", "message", "signature"), VECTORS)
def test_the_vectors_of_the_standard_hold_and_none_of_their_bits_can_be_changed(key, message, signature):
    key, message, signature = map(bytes.fromhex, (key, message, signature))
    assert holds(key, message, signature)
    for bit in range(0, 512, 13):
        changed = bytearray(signature)
        changed[bit // 8] ^= 1 << bit % 8
        assert not holds(key, message, bytes(changed))
    assert not holds(key, message + b"x", signature)
    assert not holds(bytes([key[0] ^ 1]) + key[1:], message, signature)


def test_it_agrees_with_the_library_on_random_messages_keys_and_changes():
    luck = random.Random("ed25519")
    for _ in range(60):
        key = Ed25519PrivateKey.from_private_bytes(luck.randbytes(32))
        public, message = key.public_key().public_bytes_raw(), luck.randbytes(luck.randrange(200))
        signature = bytearray(key.sign(message))
        if luck.random() < 0.6:
            signature[luck.randrange(64)] ^= 1 << luck.randrange(8)
        expected = by_library(public.hex(), message, bytes(signature).hex())
        assert holds(public, message, bytes(signature)) == expected


def test_a_signature_has_one_spelling():
    """S + L satisfies the same equation: accepting it would let anyone respell a signature."""
    key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    public, signature = key.public_key().public_bytes_raw(), key.sign(b"m")
    s = int.from_bytes(signature[32:], "little")
    for multiple in range(1, 16):
        respelled = s + multiple * alone.Q
        if respelled < 2**256:
            assert not holds(public, b"m", signature[:32] + respelled.to_bytes(32, "little"))
    for length in (0, 31, 32, 63):
        assert not holds(public, b"m", signature[:length])
    assert not holds(public, b"m", signature + b"\0")
    for length in (0, 31):
        assert not holds(public[:length], b"m", signature)
    assert not holds(public + b"\0", b"m", signature)


def test_points_that_are_spelled_otherwise_are_refused():
    for y in range(19):  # y + p is y spelled again
        for sign in (0, 1 << 255):
            with pytest.raises(alone.No):
                alone.decoded((alone.P + y | sign).to_bytes(32, "little"))
    for y in (1, alone.P - 1):  # x = 0 has no odd form
        with pytest.raises(alone.No):
            alone.decoded((y | 1 << 255).to_bytes(32, "little"))
        assert alone.decoded(y.to_bytes(32, "little"))[0] == 0


def test_a_commitment_that_is_spelled_otherwise_is_refused():
    """R = 0 is allowed by the equation; its other spelling y = 1 + p, hashed as it stands, is not."""
    number, _ = parts(bytes(32))
    public = Ed25519PrivateKey.from_private_bytes(bytes(32)).public_key().public_bytes_raw()
    for y, expected in ((1, True), (1 + alone.P, False), (1 | 1 << 255, False)):
        commitment = y.to_bytes(32, "little")
        k = int.from_bytes(sha512(commitment + public + b"m").digest(), "little")
        signature = commitment + (k * number % alone.Q).to_bytes(32, "little")
        assert holds(public, b"m", signature) == expected == by_library(public.hex(), b"m", signature.hex())


def test_keys_of_small_order_are_refused():
    """Under such a key, S = 0 with some R signs very many messages: here one of all of them."""
    small = torsion()
    assert len({alone.encoded(point) for point in small}) == 8
    forged = alone.encoded(ZERO) + bytes(32)
    assert by_library(alone.encoded(ZERO).hex(), b"anything", forged.hex())  # the library leaves this to its caller
    for point in small:
        for message in (b"anything", b"else", b"more"):
            assert not holds(alone.encoded(point), message, forged)


def test_it_agrees_with_the_library_on_keys_and_commitments_with_a_part_of_small_order():
    """The equation is checked without a cofactor, by both: such a part of R or A that does not cancel is refused."""
    luck, agreed = random.Random("torsion"), set()
    for point in torsion():
        secret = luck.randbytes(32)
        number, _ = parts(secret)
        base = alone.decoded(alone.BASE)
        public = alone.encoded(alone.add(alone.times(number, base), point))
        for extra in (ZERO, point):
            nonce = luck.randrange(1, alone.Q)
            commitment = alone.encoded(alone.add(alone.times(nonce, base), extra))
            for attempt in range(4):
                message = bytes([attempt])
                k = int.from_bytes(sha512(commitment + public + message).digest(), "little")
                signature = commitment + ((nonce + k * number) % alone.Q).to_bytes(32, "little")
                expected = by_library(public.hex(), message, signature.hex())
                assert holds(public, message, signature) == expected
                agreed.add(expected)
    assert agreed == {True, False}
