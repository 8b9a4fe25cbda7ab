"""The signing key: whole, private, never replaced."""

import copy
import os
import pickle
import stat

import pytest

from dpcurator.errors import Misconfigured
from dpcurator.ledger import keys


@pytest.fixture
def path(tmp_path):
    return tmp_path / "key.pem"


def test_what_is_created_is_loaded_and_signs(path):
    made, loaded = keys.create(path), keys.load(path)
    assert made.public == loaded.public
    message = keys.canonical({"epsilon": 1})
    signature = made.sign(message)
    assert (len(made.public), len(signature)) == (64, 128)
    assert keys.verify(loaded.public, message, signature)
    assert not keys.verify(loaded.public, message + b" ", signature)
    assert not keys.verify("00" * 32, message, signature)
    for malformed in ("", "zz", signature[:-2], signature.upper()[:10]):
        assert not keys.verify(loaded.public, message, malformed)
        assert not keys.verify(malformed, message, signature)


def test_the_file_is_private_and_alone(path):
    keys.create(path)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert os.stat(path).st_nlink == 1
    assert os.listdir(path.parent) == [path.name]


def test_a_key_is_never_replaced(path):
    made = keys.create(path)
    with pytest.raises(Misconfigured, match="already"):
        keys.create(path)
    assert keys.load(path).public == made.public
    assert os.listdir(path.parent) == [path.name]


def test_a_key_readable_by_others_is_refused(path):
    keys.create(path)
    path.chmod(0o644)
    with pytest.raises(Misconfigured, match="chmod 600"):
        keys.load(path)


@pytest.mark.parametrize(
    "content", [b"", b"-----BEGIN PRIVATE KEY-----\nsecret\n", bytes(range(64, 128)), b"x" * 100_000]
)
def test_a_file_that_holds_no_key_is_refused_without_showing_it(content, path):
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(Misconfigured, match="no Ed25519 signing key") as refused:
        keys.load(path)
    assert "secret" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_a_key_of_another_kind_is_refused(path):
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    path.write_bytes(
        X25519PrivateKey.generate().private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    path.chmod(0o600)
    with pytest.raises(Misconfigured, match="no Ed25519"):
        keys.load(path)


def test_a_missing_file_or_directory_is_said_so(path, tmp_path):
    for attempt in (lambda: keys.load(path), lambda: keys.create(tmp_path / "none" / "key.pem")):
        with pytest.raises(Misconfigured, match="no such file"):
            attempt()


def test_a_key_does_not_show_or_leave(path):
    made = keys.create(path)
    assert repr(made) == f"<SigningKey {made.public}>"
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            leave(made)
