"""The bytes of the protocol: SCRAM as its example has it, values in both forms, and messages that are none."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the server's packages are not installed")

from dpcurator.errors import Refusal
from dpcurator.ledger.accounts import Scram, scram_of
from dpcurator.server.wire import messages as wire
from dpcurator.server.wire.messages import BINARY, TEXT, Bind, Malformed, Parse
from dpcurator.server.wire.scram import Exchange, salt_of
from dpcurator.server.wire.texts import places, split
from dpcurator.server.wire.values import DATE, FLOAT8, INT8, TIMESTAMPTZ, UUID, Unsendable, literal, sent


def test_scram_is_that_of_the_example_of_rfc_7677() -> None:
    keys = Scram.of("pencil", base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ=="))
    assert Scram.read(str(keys)) == keys
    exchange = Exchange(keys, once=b"%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0")
    first = exchange.first(b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO")
    assert first == b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    last = b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    assert exchange.final(last) == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    for wrong in (last.replace(b"p=dH", b"p=eH"), last.replace(b"c=biws", b"c=eSws"), last.replace(b",r=r", b",r=s")):
        assert exchange.final(wrong) is None
    for malformed in (b"", b"c=biws", last + b",x", last.replace(b"dHzb", b"d?zb")):
        with pytest.raises(Malformed):
            exchange.final(malformed)


@pytest.mark.parametrize(
    "first", [b"", b"n,,n=user", b"p=tls-unique,,n=u,r=abc", b"n,,m=x,n=u,r=abc", b"n,,n=u,r=", b"x,,n=u,r=a"]
)
def test_a_first_message_that_is_none_is_refused(first: bytes) -> None:
    with pytest.raises(Malformed):
        Exchange(Scram.of("t", bytes(16))).first(first)


def test_each_token_has_a_salt_of_its_own_and_each_unknown_name_the_same_one_again() -> None:
    assert scram_of("ana.x") != scram_of("ana.x")
    assert scram_of("") == ""
    assert salt_of("zoe", b"s") == salt_of("zoe", b"s") != salt_of("zoe", b"t") != salt_of("bob", b"t")
    assert len(salt_of("zoe", b"s")) == 16


VALUES: list[tuple[Any, int, bytes, bytes]] = [
    (True, 16, b"t", b"\1"),
    (-7, INT8, b"-7", struct.pack("!q", -7)),
    (1.5, FLOAT8, b"1.5", struct.pack("!d", 1.5)),
    (3.0, FLOAT8, b"3", struct.pack("!d", 3.0)),
    (float("inf"), FLOAT8, b"Infinity", struct.pack("!d", float("inf"))),
    ("a\0é", 25, "aé".encode(), "aé".encode()),
    ("2000-01-03", DATE, b"2000-01-03", struct.pack("!i", 2)),
    ("2000-01-01T00:00:01Z", TIMESTAMPTZ, b"2000-01-01 00:00:01+00:00", struct.pack("!q", 1_000_000)),
    (
        ["a b", None],
        1009,
        b'{"a b",NULL}',
        struct.pack("!iiiii", 1, 1, 25, 2, 1) + struct.pack("!i", 3) + b"a b" + struct.pack("!i", -1),
    ),
    (
        "12345678-1234-5678-1234-567812345678",
        UUID,
        b"12345678-1234-5678-1234-567812345678",
        bytes.fromhex("12345678123456781234567812345678"),
    ),
]


@pytest.mark.parametrize(("value", "kind", "text", "binary"), VALUES)
def test_a_value_in_both_forms(value: Any, kind: int, text: bytes, binary: bytes) -> None:
    assert (sent(value, kind, TEXT), sent(value, kind, BINARY)) == (text, binary)
    assert sent(None, kind, TEXT) is None


@pytest.mark.parametrize("form", [TEXT, BINARY])
def test_what_a_type_cannot_hold_is_not_sent_as_something_else(form: int) -> None:
    for value, kind in ((2**63, INT8), ("soon", DATE), (10**400, FLOAT8)):
        with pytest.raises(Unsendable):
            sent(value, kind, form)


@pytest.mark.parametrize(
    ("value", "kind", "form", "read"),
    [
        (b"20", 23, TEXT, "20"),
        (b"-3", 23, TEXT, "(-3)"),
        (struct.pack("!h", -2), 21, BINARY, "(-2)"),
        (b"t", 16, TEXT, "TRUE"),
        (b"O'Neil", 25, TEXT, "'O''Neil'"),
        (b"2024-02-03", DATE, TEXT, "DATE '2024-02-03'"),
        (None, 25, TEXT, "NULL"),
        (struct.pack("!i", 0), DATE, BINARY, "DATE '2000-01-01'"),
        (struct.pack("!q", 0), 1114, BINARY, "TIMESTAMP '2000-01-01 00:00:00'"),
        (b"1e3", 701, TEXT, "1e3"),
    ],
)
def test_a_value_beside_a_statement_is_written_as_one(value: bytes | None, kind: int, form: int, read: str) -> None:
    assert literal(value, kind, form, 1) == read


@pytest.mark.parametrize(
    ("value", "kind", "form"),
    [
        (b"1; DROP", 23, TEXT),
        (b"1 OR 1=1", 1700, TEXT),
        (b"x'", DATE, TEXT),
        (b"maybe", 16, TEXT),
        (b"\xff", 25, TEXT),
        (b"1", 23, BINARY),
        (b"{1}", 1007, TEXT),
        (b"NaN", 701, TEXT),
    ],
)
def test_a_value_that_is_none_of_its_type_is_refused(value: bytes, kind: int, form: int) -> None:
    with pytest.raises(Refusal, match=r"the value of \$1"):
        literal(value, kind, form, 1)


def test_a_text_is_split_where_statements_end_and_nowhere_else() -> None:
    assert split("SELECT ';' ; -- a; b\nSELECT \"x;y\" /* ; */; ;") == ["SELECT ';' ", ' -- a; b\nSELECT "x;y" /* ; */']
    assert (split(" -- nothing"), places("SELECT $2, '$9', $1 -- $7")) == ([], 2)
    with pytest.raises(Refusal, match="at most 50"):
        split("SELECT 1;" * 51)


@pytest.mark.parametrize(
    ("read", "content"),
    [
        (Parse.read, b""),
        (Parse.read, b"a\0b\0\0\2\0\0\0\1"),
        (Parse.read, b"a\0b\0\0\0x"),
        (Bind.read, b"\0\0\0\1\0\7\0\0\0\0"),
        (Bind.read, b"\0\0\0\0\0\1\0\0\0\5ab"),
        (wire.target, b"X\0"),
        (wire.execute, b"\0\0"),
        (wire.query, b"SELECT 1"),
        (wire.startup, b"user\0"),
        (wire.query, b"\xff\0"),
        (Bind.read, b"\0\0\0\2\0\0\0\0\0\0"),
    ],
)
def test_a_message_that_is_none_is_malformed(read: Any, content: bytes) -> None:
    with pytest.raises(Malformed):
        read(content)
