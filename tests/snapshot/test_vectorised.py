"""The grammar a column at a time: what a form reads, the grammar reads alike."""

import math
import struct
from fractions import Fraction

import duckdb
import numpy as np
import pytest
from hostile_spellings import ODD, PLAUSIBLE, spellings

from dpcurator.catalog.cleaning import Cleaning
from dpcurator.catalog.duckdb_options import write_down
from dpcurator.catalog.model import MAX_LENGTH
from dpcurator.catalog.spelling import GRAMMAR, Spelling, Unreadable, read_text, read_value
from dpcurator.snapshot.arrow import numbers, texts
from dpcurator.snapshot.loading import registered
from dpcurator.snapshot.typed_values import READERS
from dpcurator.snapshot.vectorised import NONE, of_kind, of_text

SHORT = Cleaning(
    ("lower", "trim", "nfc"), (("f", "no"), ("x", "7")), ("?", "n/a", "nan"), (7, 0, -1), Fraction(0), Fraction(105))
REAL = Cleaning(absent=("-", " "), absent_values=(0.0, 99.5, math.inf), lower=Fraction(1, 10), upper=Fraction(10**9, 3))
LATE = Cleaning(("lower",), (("f", "no"),), ("?",), (0,), Fraction(-(10**15)), Fraction(10**16))
WORDS = Cleaning(("upper",), (("NO", "N"),), ("", "É"), ("TRUE", "A"))
SPELLINGS = {
    "integer": [
        Spelling(), Spelling(cleaning=SHORT), Spelling(decimal=",", cleaning=Cleaning(absent_values=(5, 2**63 - 1))),
        Spelling(thousands=","), Spelling(thousands=".", decimal=","), Spelling(thousands="\u2019"),
        Spelling(formats=("HH:mm", "H.mm.ss")), Spelling(formats=("h:mm AM",), cleaning=SHORT)],
    "float": [
        Spelling(), Spelling(decimal=","), Spelling(cleaning=REAL), Spelling(cleaning=SHORT), Spelling(thousands=","),
        Spelling(thousands=".", decimal=","), Spelling(thousands=" ", decimal=","),
        Spelling(thousands="'", cleaning=REAL)],
    "boolean": [
        Spelling(), Spelling(cleaning=Cleaning(("trim", "upper"), (("NO", "yes"),), ("T",), (1,))),
        Spelling(true_words=("ja", "straße", "x"), false_words=("nein", "é", "kk")),
        Spelling(true_words=("yes please",), false_words=("",), cleaning=WORDS)],
    "date": [
        Spelling(), Spelling(formats=("DD.MM.YYYY", "ISO")), Spelling(formats=("ISO", "YYYY MM DD"), cleaning=WORDS),
        Spelling(formats=("YYYYMMDD",)),
        Spelling(formats=("D.M.YYYY", "DD MON YYYY", "ISO", "M/D/YYYY")),
        Spelling(formats=("MON D YYYY", "YYYYMMDD"), cleaning=WORDS), Spelling(formats=("days since 1970-01-01",)),
        Spelling(formats=("hours since 9999-12-31",)),
        Spelling(cleaning=Cleaning(lower=Fraction(-5000), upper=Fraction(19000))),
    ],
    "timestamp": [
        Spelling(zone="UTC"), Spelling(zone="Europe/Paris"), Spelling(zone="UTC", cleaning=LATE),
        Spelling(zone="UTC", formats=("DD/MM/YYYY HH:mm",)),
        Spelling(zone="UTC", formats=("D.M.YYYY H:mm:ss", "ISO", "MON DD YYYY hh:mm:ssAM", "YYYYMMDDTHHmmss")),
        Spelling(zone="Europe/Paris", formats=("DD/MM/YYYY HH:mm:ss Z", "YYYY-MM-DD HH:mm UTC", "ISO")),
        Spelling(zone="UTC", formats=("ISO", "DD-MM-YYYY HH:mm"), cleaning=LATE),
        Spelling(formats=("seconds since 1970-01-01",)), Spelling(formats=("microseconds since 2000-01-01",)),
        Spelling(formats=("days since 9999-12-31",), cleaning=LATE)],
    "uuid": [Spelling(), Spelling(cleaning=Cleaning(("upper", "nfc")))],
    "text": [Spelling(), Spelling(cleaning=WORDS), Spelling(cleaning=Cleaning(("trim",), (("1", "one"),)))],
}
CASES = [(type, n) for type, found in SPELLINGS.items() for n in range(len(found))]


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as opened:
        yield write_down(opened)


def read(connection, cells, type, spelling, letters=MAX_LENGTH):
    """For each text whether its form is sure, and the value."""
    form = of_text(0, type, spelling, letters)
    with registered(connection, [texts(cells), numbers(np.arange(len(cells)))]) as name:
        source = f"(SELECT *, {form.cut or 'x0'} AS cut0 FROM {name})"
        source = f"(SELECT *, {form.made or 'NULL'} AS made0 FROM {source})"
        value = f"CASE WHEN {form.sure} THEN {form.value} END"
        return connection.execute(f"SELECT ({form.sure}) IS TRUE, {value} FROM {source} ORDER BY x1").fetchall()


def exactly(value):
    return struct.pack("d", value) if isinstance(value, float) else value


@pytest.mark.parametrize(("type", "n"), CASES)
def test_t18_what_a_form_reads_the_grammar_reads_alike(connection, type, n, tries):
    spelling = SPELLINGS[type][n]
    for part in range(0, tries, 100_000):
        cells = spellings(type, min(tries, 100_000), part, spelling) + ODD * (part == 0)
        found = read(connection, cells, type, spelling)
        for cell, (sure, value) in zip(cells, found, strict=True):
            if sure:
                expected = read_text(cell, type, spelling)
                assert not isinstance(expected, Unreadable), cell
                assert exactly(expected) == exactly(value), cell


@pytest.mark.parametrize("type", list(GRAMMAR))
def test_t18_the_plainest_spellings_have_a_form(connection, type):
    """The one before would hold, were a form never sure."""
    spelling = Spelling(zone="UTC")
    cells = spellings(type, 3000, "plain")
    cells = [text for text in cells if not isinstance(read_text(text, type, spelling), Unreadable)]
    found = read(connection, cells, type, spelling)
    assert sum(sure for sure, _ in found) > 0.6 * len(cells) > 100
    assert set(PLAUSIBLE) == set(GRAMMAR)


def test_t18_what_has_no_form_is_the_grammars():
    for type, formats in (
        ("date", ("days since 1970-01-01", "D.M.YYYY")), ("timestamp", ("seconds since 1970-01-01", "ISO")),
        ("integer", ("ISO", "HH:mm")),
    ):
        assert of_text(0, type, Spelling(formats=formats), 500) is NONE


@pytest.mark.parametrize(("type", "formats", "cell", "value"), [
    ("timestamp", ("DD/MM/YYYY HH:mm",), " 02/01/1970 00:01", 86_460_000_000),
    ("timestamp", ("MON D YYYY h:mm:ss AM Z",),
     "feb 1 1970 12:00:00.0000019 pm +01:30", (31 * 24 + 10.5) * 3_600_000_000 + 1),
    ("timestamp", ("YYYY-MM-DD HH:mm UTC",), "1969-12-31 23:59 utc", -60_000_000),
    ("timestamp", ("DD.MM.YYYYTHH:mm", "ISO"), "1970-01-01t00:00:00.5Z", 500_000),
    ("timestamp", ("milliseconds since 1970-01-02",), "-1", 86_399_999_000),
    ("date", ("D.M.YYYY", "DD MON YYYY"), "03 Jan 1970", 2), ("date", ("days since 1969-12-31",), "+1", 0),
    ("integer", ("h:mm AM",), "12:01 am", 60), ("integer", ("HH:mm", "HH.mm.ss"), "23.59.59,9", 86_399),
])
def test_t18_forms_by_hand(connection, type, formats, cell, value):
    assert read(connection, [cell], type, Spelling(zone="UTC", formats=formats)) == [(True, value)]


@pytest.mark.parametrize(("type", "n"), [case for case in CASES if case[1]])
def test_t18_columns_that_are_cleaned_or_formatted_have_a_form_too(connection, type, n):
    spelling = SPELLINGS[type][n]
    cells = spellings(type, 2000, "cleaned", spelling)
    cells = [cell for cell in cells if not isinstance(read_text(cell, type, spelling), Unreadable)]
    assert sum(sure for sure, _ in read(connection, cells, type, spelling)) > len(cells) / 20 > 1


@pytest.mark.parametrize("type", ["integer", "float", "boolean", "date", "timestamp"])
@pytest.mark.parametrize("kind", ["whole", "double", "decimal(9,2)", "day", "aware"])
def test_t18_typed_values_are_cleaned_alike(connection, type, kind):
    """na_values and `valid` hold for typed values too; `read_value` is asked for each that the form reads."""
    most = 10**14 if type == "timestamp" else Fraction(400, 3)
    clean = Cleaning(absent_values=(0, 2, 99.5) if type == "float" else (0, 2), lower=Fraction(1, 3), upper=most)
    form = of_kind(0, kind, type, Spelling(zone="UTC", cleaning=clean), 500)
    values = [n / 4 if kind in ("double", "decimal(9,2)") else n for n in range(-20, 600)]
    sql = {"whole": "BIGINT", "day": "BIGINT", "aware": "BIGINT", "double": "DOUBLE"}.get(kind, kind)
    if form is NONE:
        return
    source = f"(SELECT unnest(CAST(? AS {sql}[])) AS x0)"
    source = f"(SELECT *, {form.made or 'NULL'} AS made0 FROM {source})"
    query = f"SELECT x0, {form.value} FROM (FROM {source} WHERE {form.sure})"
    found = connection.execute(query, [values]).fetchall()
    reader = READERS.get(kind, lambda value: value)
    for value, got in found:
        assert exactly(read_value(reader(value), type, Spelling(zone="UTC", cleaning=clean))) == exactly(got)
    assert found or type == "boolean" or kind == "aware"


def test_t18_texts_past_the_length_are_left(connection):
    for text, sure in (("é" * 5, True), ("e" * 6, False), ("e\u0301" * 3, False), ("𝄞" * 5, True), ("a\0", False)):
        assert read(connection, [text], "text", Spelling(), letters=5)[0][0] is sure
