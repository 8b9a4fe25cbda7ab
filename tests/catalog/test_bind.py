"""The bound catalog: keys from public tables, and a digest of what is public and of nothing else."""

import copy

import pytest

from dpcurator.catalog.bind import PublicFacts, catalog_of, json_value, schema_fingerprint, value_of_json
from dpcurator.catalog.load import load

RAW = {
    "curator": {"protects": "people", "salt": "a" * 32},
    "ledger": {"epsilon": "0.1", "delta": "1e-8"},
    "tables": {
        "visits": {
            "file": "visits.csv", "unit": "u", "max_rows": 1, "max_groups": 2,
            "columns": {
                "u": "integer",
                "city": {"type": "text", "keys": {"table": "cities"}, "keys_include_missing": True},
                "x": {"type": "float", "bounds": [0, 0.1], "keys": [0.5]},
            },
        },
        "cities": {"file": "cities.csv", "public": True, "columns": {"city": "text"}},
    },
}
FACTS = PublicFacts(7, ((("cities", "city"), ("Hull", "York")),))


def test_keys_come_from_the_public_facts():
    catalog = catalog_of(load(RAW), FACTS)
    assert catalog.tables[0].columns[1].keys == (None, "Hull", "York")
    assert catalog.data_version == 7
    assert catalog_of(load(RAW)).tables[0].columns[1].keys is None


def digest(facts=FACTS, **changes):
    raw = copy.deepcopy(RAW)
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = raw
        for parent in parents:
            place = place[parent]
        place[last] = value
    return catalog_of(load(raw), facts).digest


SAME = [
    {"tables__visits__file": "elsewhere.csv"},
    {"tables__visits__encoding": "latin-1"},
    {"tables__visits__missing": ["NA"]},
    {"ledger__epsilon": 0.1},
    {"ledger__delta": 1e-8},
    {"curator__salt": "A" * 32},
]
DIFFERENT = [
    {"curator__protects": "patients"},
    {"curator__neighbours": "replace-one", "curator__units": 9},
    {"curator__neighbours": "replace-one", "curator__units": 10},
    {"curator__salt": "b" * 32},
    {"ledger__epsilon": 1},
    {"ledger": {"rho": "0.1", "delta": "1e-8"}},
    {"ledger__delta": 0},
    {"tables__visits__columns__d": {"type": "date", "bounds": ["2020-01-01", "2020-12-31"]}},
    {"tables__visits__columns__d": {"type": "date", "bounds": ["2020-01-01", "2021-12-31"]}},
    {"tables__visits__columns__d": {"type": "date", "keys": "unknown"}},
    {"tables__visits__columns__d": {"type": "date", "keys": []}},
    {"ledger__delta": "1e-9"},
    {"tables__visits__max_rows": 2},
    {"tables__visits__expected_units": 10},
    {"tables__visits__columns__x": {"type": "float", "bounds": [0, 0.2], "keys": [0.5]}},
    {"tables__visits__columns__x": {"type": "float", "bounds": [0, 0.1], "keys": [0.25]}},
    {"tables__visits__columns__x": {"type": "float", "bounds": [0, 0.1], "keys": [0.5], "missing": 0}},
    {"facts": PublicFacts(7, ((("cities", "city"), ("Hull",)),))},
]


@pytest.mark.parametrize("changes", SAME)
def test_the_digest_does_not_see_sources_or_spellings(changes):
    assert digest(**changes) == digest()


@pytest.mark.parametrize("changes", DIFFERENT)
def test_the_digest_sees_every_public_fact(changes):
    assert digest(**changes) != digest()


def test_no_two_catalogs_have_one_digest():
    assert len({digest(**changes) for changes in DIFFERENT}) == len(DIFFERENT)


def test_the_digest_is_of_the_declaration_not_of_the_version():
    assert digest(facts=PublicFacts(8, FACTS.keys)) == digest()
    assert len(digest()) == 64


def test_the_fingerprint_is_of_names_and_types_in_order():
    raw = copy.deepcopy(RAW)
    raw["tables"]["visits"]["max_rows"] = 9
    assert schema_fingerprint(load(raw)) == schema_fingerprint(load(RAW))
    raw["tables"]["visits"]["columns"]["x"] = "integer"
    assert schema_fingerprint(load(raw)) != schema_fingerprint(load(RAW))


@pytest.mark.parametrize("value", [None, 3, "a", 0.1, float("inf"), -5e-324])
def test_values_survive_json(value):
    assert value_of_json(json_value(value)) == value
