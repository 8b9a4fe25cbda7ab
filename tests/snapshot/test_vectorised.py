"""The grammar a column at a time: what a form reads, the grammar reads alike."""

import struct

import duckdb
import pytest
from hostile_spellings import ODD, PLAUSIBLE, spellings

from dpcurator.catalog.duckdb_options import write_down
from dpcurator.catalog.model import MAX_LENGTH
from dpcurator.catalog.spelling import GRAMMAR, Spelling, Unreadable, read_text
from dpcurator.snapshot.arrow import texts
from dpcurator.snapshot.loading import registered
from dpcurator.snapshot.vectorised import NONE, of_text

SPELLINGS = [Spelling(zone="UTC"), Spelling(decimal=","), Spelling(zone="Europe/Paris")]
CASES = [(type, n) for type in GRAMMAR for n in range(len(SPELLINGS) if type in ("timestamp", "float") else 1)]


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as opened:
        yield write_down(opened)


def read(connection, cells, type, spelling, letters=MAX_LENGTH):
    """For each text whether its form is sure, and the value."""
    form = of_text(0, type, spelling, letters)
    with registered(connection, [texts(cells)]) as name:
        source = f"(SELECT *, {form.cut or 'x0'} AS cut0 FROM {name})"
        source = f"(SELECT *, {form.made or 'NULL'} AS made0 FROM {source})"
        return connection.execute(
            f"SELECT ({form.sure}) IS TRUE, CASE WHEN {form.sure} THEN {form.value} END FROM {source}").fetchall()


def exactly(value):
    return struct.pack("d", value) if isinstance(value, float) else value


@pytest.mark.parametrize(("type", "n"), CASES)
def test_t18_what_a_form_reads_the_grammar_reads_alike(connection, type, n, tries):
    spelling = SPELLINGS[n]
    for part in range(0, tries, 100_000):
        cells = spellings(type, min(tries, 100_000), part) + ODD * (part == 0)
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


def test_t18_columns_that_declare_more_are_the_grammars(connection):
    assert of_text(0, "integer", Spelling(thousands=","), 500) is NONE
    assert of_text(0, "date", Spelling(formats=("DD/MM/YYYY",)), 500) is NONE


def test_t18_texts_past_the_length_are_left(connection):
    for text, sure in (("é" * 5, True), ("e" * 6, False), ("e\u0301" * 3, False), ("𝄞" * 5, True), ("a\0", False)):
        assert read(connection, [text], "text", Spelling(), letters=5)[0][0] is sure
