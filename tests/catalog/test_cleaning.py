"""Cleaning: what each declaration makes of a value, its order, what is refused with a cure, and that it is meaning."""

import datetime as dt
import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcurator.catalog.bind import catalog_of, column_facts, schema_fingerprint
from dpcurator.catalog.cleaning import STEPS
from dpcurator.catalog.load import load
from dpcurator.catalog.spelling import TYPES, Unreadable, read_value
from dpcurator.errors import Misconfigured
from dpcurator.snapshot.grammar import read_cells, read_typed


def declared(fields, unit="each row", **table):
    raw = {"curator": {"protects": "p", "salt": "0" * 32}, "ledger": {"epsilon": 1, "delta": "1e-8"}}
    return load(raw | {"tables": {"t": {"unit": unit, "columns": {"x": fields}} | table}})


def reading(**fields):
    source = declared(fields).sources[0]
    return source.readings[0].spelling


BAD = "unreadable"
MEANT = [
    ({"type": "text", "clean": ["trim"]}, {" a ": "a", "\ta\u00a0": "a", "": "", "A": "A"}),
    ({"type": "text", "clean": ["lower"]}, {"ÄB ": "äb ", "a": "a"}),
    ({"type": "text", "clean": ["trim", "upper"]}, {" straße": "STRASSE"}),
    ({"type": "text", "clean": ["nfc"]}, {"Malmo\u0308": "Malmö"}),
    ({"type": "text", "map": {"female": "F", "F": "woman"}}, {"female": "F", "F": "woman", "Female": "Female"}),
    ({"type": "text", "clean": ["lower"], "map": {"female": "F", "f": "F"}}, {"Female": "F", "F": "F", "m": "m"}),
    ({"type": "text", "na_values": ["", "?", "NA"]}, {"": None, "?": None, "na": "na", " ?": " ?", 5: "5"}),
    ({"type": "text", "na_values": ["5"], "map": {"7": "seven"}}, {5: None, 7: "seven", "5": None}),
    ({"type": "text", "clean": ["trim", "lower"], "na_values": ["n/a", ""]}, {" N/A ": None, "  ": None}),
    ({"type": "text", "clean": ["lower"], "map": {"unknown": "?"}, "na_values": ["?"]}, {"Unknown": None, "?": None}),
    ({"type": "integer", "na_values": ["999", "?"]}, {"999": None, " 0999.0": None, 999: None, "?": None, "?1": BAD,
                                                     "99": 99}),
    ({"type": "integer", "na_values": [-1]}, {"-1": None, -1: None, "1": 1}),
    ({"type": "float", "decimal": ",", "na_values": ["-9,0"]}, {"-9": None, -9.0: None, "9,5": 9.5}),
    ({"type": "integer", "valid": [0, 105]}, {"0": 0, "105": 105, "106": BAD, "-1": BAD, 999: BAD, "": BAD}),
    ({"type": "float", "valid": [0.1, 0.7]}, {"0.1": 0.1, "0.7": 0.7, "0.09": BAD, "1": BAD, "inf": BAD, "nan": None}),
    ({"type": "date", "format": "DD.MM.YYYY", "valid": ["1900-01-01", "2024-12-31"], "na_values": ["01.01.1900"]},
     {"01.01.1900": None, "31.12.1899": BAD, "02.01.1970": 1, dt.date(1900, 1, 1): None}),
    ({"type": "date", "na_values": ["1900-01-01"], "format": "DD.MM.YYYY"}, {"01.01.1900": None, "1900-01-01": None}),
    ({"type": "timestamp", "zone": "UTC", "valid": ["1970-01-01T00:00", "1970-01-02T00:00"]},
     {"1970-01-01 00:00:01": 1_000_000, "1971-01-01 00:00": BAD}),
    ({"type": "boolean", "true_words": ["J", "Ja"], "false_words": ["N"]},
     {"j": 1, " JA ": 1, "n": 0, "true": BAD, "1": BAD, True: 1, "": BAD}),
    ({"type": "boolean", "map": {"J": "true", "N": "false"}}, {"J": 1, "N": 0, "yes": 1}),
    ({"type": "float", "thousands": ","}, {"1,234.50": 1234.5, "$2,000": BAD, "45%": BAD, "1234.5": 1234.5, "1,23": BAD,
                                           "12,34,567": BAD, ",123": BAD, "1,234.5,6": BAD, "-1,234,567": -1234567.0}),
    ({"type": "integer", "thousands": " "}, {"1 234": 1234, "1 23": BAD, " 12 ": 12, "1234 567": BAD}),
    ({"type": "integer", "decimal": ",", "thousands": "."}, {"1.234.567,00": 1234567, "1.5": BAD, "1.234": 1234}),
    ({"type": "integer", "thousands": "'"}, {"1'234": 1234}),
    ({"type": "timestamp", "format": "seconds since 1970-01-01", "decimal": ","}, {"1,5": 1_500_000, "1.5": BAD}),
    ({"type": "text", "clean": ["upper"], "max_length": 5}, {"ßßß": "SSSSSS"}),
]


@pytest.mark.parametrize(("fields", "cells"), MEANT)
def test_what_a_cell_means(fields, cells):
    spelling, type = reading(**fields), fields["type"]
    for cell, meant in cells.items():
        found = read_value(cell, type, spelling)
        same = found == meant and found.__class__ is meant.__class__
        assert isinstance(found, Unreadable) if meant == BAD else same, cell
    texts = [cell for cell in cells if isinstance(cell, str)]
    values, bad = read_cells(texts, type, spelling, ())
    assert values == [None if cells[text] == BAD else cells[text] for text in texts]
    assert [texts[position] for position, _ in bad] == [text for text in texts if cells[text] == BAD]


def test_hunt_18_symbols_of_census_tables():
    spelling = reading(type="integer", thousands=",", na_values=["(X)", "N", "-", "**", "***"])
    values, bad = read_cells(["2500-", "250,000+", "(X)", "N", "-", "1234"], "integer", spelling, ())
    assert values == [None, None, None, None, None, 1234]
    assert [position for position, _ in bad] == [0, 1]


REFUSED = [
    ({"type": "text", "clean": ["strip"]}, '"strip" is no step of clean'),
    ({"type": "text", "clean": "trim"}, "clean must be a list"), ({"type": "text", "clean": ["trim"] * 9}, "the limit"),
    ({"type": "text", "clean": ["lower"], "map": {"Female": "F"}}, 'clean comes first and makes "female" of "Female"'),
    ({"type": "integer", "map": {"none": "no"}}, '"no" is not an integer'),
    ({"type": "text", "map": {"a": "b\0"}}, "U+0000"), ({"type": "text", "na_values": "?"}, "na_values must be a list"),
    ({"type": "text", "map": {"a": 1}}, "must be text in quotes"),
    ({"type": "text", "clean": ["trim"], "na_values": [" ?"]}, 'make "?" of " ?"'),
    ({"type": "text", "na_values": [5]}, "a number, not text in quotes. Write it in quotes: \"5\""),
    ({"type": "integer", "na_values": [1.5]}, "is not an integer"),
    ({"type": "integer", "valid": [105, 0]}, "are the wrong way round"),
    ({"type": "integer", "valid": [0.5, 3]}, "must be whole"), ({"type": "integer", "valid": [0]}, "two numbers"),
    ({"type": "integer", "valid": ["0", "1"]}, "valid must be numbers without quotes, not [\"0\", \"1\"]"),
    ({"type": "integer", "valid": ["?", "?"]}, 'valid is still blank'), ({"type": "text", "valid": [0, 1]}, "not text"),
    ({"type": "float", "thousands": ".", "decimal": "."}, "are the same mark"),
    ({"type": "float", "thousands": "x"}, "thousands must be one of"), ({"type": "float", "decimal": ";"}, "must be"),
    ({"type": "text", "thousands": ","}, "thousands is for numbers"),
    ({"type": "boolean", "true_words": ["J"]}, "goes with false_words"),
    ({"type": "boolean", "true_words": ["J"], "false_words": ["j "]}, "among true_words and false_words"),
    ({"type": "text", "true_words": ["J"], "false_words": ["N"]}, "for boolean columns"),
    ({"type": "text", "clean": ["lower"], "keys": ["Leeds"]},
     'key "Leeds" cannot occur: clean and map make "leeds" of'),
    ({"type": "text", "map": {"female": "F"}, "keys": ["female"]}, 'clean and map make "F" of it. Write "F"'),
    ({"type": "text", "na_values": ["?"], "keys": ["?"]}, "is among na_values"),
    ({"type": "integer", "na_values": ["999"], "keys": [999]}, "is among na_values"),
    ({"type": "integer", "valid": [0, 5], "keys": [7]}, "is outside valid"),
]


@pytest.mark.parametrize(("fields", "told"), REFUSED)
def test_what_could_not_be_meant_is_refused(fields, told):
    with pytest.raises(Misconfigured) as caught:
        declared(fields)
    assert told in str(caught.value)


CURED = [
    ({"type": "text", "clean": ["strip"]}, lambda f, cure: f | {"clean": ["trim"]}),
    ({"type": "text", "clean": ["lower"], "map": {"Female": "F"}}, lambda f, cure: f | {"map": tomllib.loads(cure)}),
    ({"type": "text", "clean": ["trim"], "na_values": [" ?"]}, lambda f, cure: f | {"na_values": [eval(cure)]}),
    ({"type": "text", "na_values": [5]}, lambda f, cure: f | {"na_values": [eval(cure)]}),
    ({"type": "float", "thousands": ".", "decimal": "."},
     lambda f, cure: f | tomllib.loads(cure.replace(", t", "\nt"))),
    ({"type": "boolean", "true_words": ["J"]}, lambda f, cure: f | tomllib.loads(cure.replace(", f", "\nf"))),
    ({"type": "text", "clean": ["lower"], "keys": ["Leeds"]}, lambda f, cure: f | {"keys": [eval(cure)]}),
]


@pytest.mark.parametrize(("fields", "cured"), CURED)
def test_e1_the_cure_works_pasted_back(fields, cured):
    with pytest.raises(Misconfigured) as caught:
        declared(fields)
    cure = re.sub(r"^(Write it in quotes: |Write |There is )|\.$", "", caught.value.cure)
    declared(cured(fields, cure))


@pytest.mark.parametrize(
    ("more", "told"), [({"map": {"a": "b"}}, "is not mapped"), ({"clean": ["lower"]}, "keeps its letters")]
)
def test_a_unit_column_is_not_folded(more, told):
    with pytest.raises(Misconfigured) as caught:
        declared({"type": "text"} | more, unit="x", max_total=1)
    assert told in str(caught.value)
    assert declared({"type": "text", "clean": ["trim", "nfc"], "na_values": ["0"]}, unit="x", max_total=1)


def test_bounds_are_those_of_valid_where_none_are_declared():
    column = declared({"type": "integer", "valid": [0, 105]}).tables[0].columns[0]
    assert (column.lower, column.upper) == (0, 105)
    column = declared({"type": "integer", "valid": [0, 105], "bounds": [18, 90]}).tables[0].columns[0]
    assert (column.lower, column.upper) == (18, 90)


def test_marks_of_the_table_are_those_of_its_columns():
    source = declared({"type": "float"}, file="d.csv", decimal=",", thousands=".").sources[0]
    assert (source.readings[0].spelling.decimal, source.readings[0].spelling.thousands) == (",", ".")
    with pytest.raises(Misconfigured, match="same mark"):
        declared({"type": "float"}, file="d.csv", decimal=",", thousands=",")


def test_the_mark_of_the_table_is_of_its_numbers_alone():
    columns = {"x": "text", "y": "float", "z": {"type": "float", "thousands": "'"}}
    source = declared("text", file="d.csv", thousands=",", columns=columns).sources[0]
    assert [reading.spelling.thousands for reading in source.readings] == ["", ",", "'"]
    assert source.readings[0].spelling.plain


CLEANINGS = [{"clean": ["trim"]}, {"map": {"a": "b"}}, {"na_values": ["?"]}]


@pytest.mark.parametrize("more", CLEANINGS)
def test_cleaning_is_part_of_meaning_and_a_snapshot_is_made_for_it(more):
    plain, cleaned = declared({"type": "text"}), declared({"type": "text"} | more)
    assert catalog_of(plain).digest != catalog_of(cleaned).digest
    assert schema_fingerprint(plain) != schema_fingerprint(cleaned)
    facts = column_facts(cleaned.tables[0].columns[0])
    assert set(facts) - set(column_facts(plain.tables[0].columns[0])) == set(more)
    written = declared({"type": "date", "format": ["DD.MM.YYYY", "YYYYMMDD"]})
    assert catalog_of(written).digest == catalog_of(declared({"type": "date"})).digest


def test_the_fields_of_a_column_that_is_cleaned_are_offered_again():
    fields = {"type": "text", "clean": ["trim"], "map": {"a b": "c"}, "na_values": ["?"]}
    offered = dict(declared(fields).sources[0].readings[0].fields)
    line = ", ".join(f"{name} = {value}" for name, value in offered.items())
    assert tomllib.loads(f"x = {{ {line} }}")["x"] == fields


TEXTS = st.text(max_size=6)
SOME = st.one_of(
    TEXTS, st.integers(), st.floats(), st.none(), st.booleans(), st.dates(), st.binary(max_size=3), st.times()
)


@given(st.sampled_from(TYPES), st.lists(st.sampled_from(list(STEPS)), max_size=3),
       st.dictionaries(TEXTS, TEXTS, max_size=3), st.lists(TEXTS, max_size=3), st.lists(SOME, max_size=5))
def test_cleaning_never_fails_and_looks_at_one_cell(type, clean, mapping, absent, cells):
    try:
        spelling = reading(type=type, clean=clean, map=mapping, na_values=absent)
    except Misconfigured:
        return
    values, bad = read_typed(cells, type, spelling)
    alone = [read_value(cell, type, spelling) for cell in cells]
    assert [position for position, _ in bad] == [i for i, value in enumerate(alone) if isinstance(value, Unreadable)]
    assert [repr(v) for v in values] == [repr(None if isinstance(v, Unreadable) else v) for v in alone]
