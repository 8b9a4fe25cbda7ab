"""Whom and for how much: both currencies, both relations, and what unknown keys ask of the rest of the file."""

from fractions import Fraction

import pytest

from dpcurator.catalog.bind import catalog_of
from dpcurator.catalog.load import load
from dpcurator.errors import Misconfigured

SALT = "00112233445566778899AABBCCDDEEFF"


def declared(curator=None, ledger=None, **columns):
    raw = {"curator": {"protects": "people"} | (curator or {}), "ledger": ledger or {"epsilon": 4}}
    return load(raw | {"tables": {"t": {"unit": "u", "columns": {"u": "integer"} | columns}}})


def test_a_ledger_in_rho():
    found = declared(ledger={"rho": "0.5", "delta": "1e-8"})
    assert (found.currency, found.epsilon, found.rho, found.delta) == (
        "rho", 0, Fraction(1, 2), Fraction(1, 10**8)
    )
    catalog = catalog_of(found)
    assert (catalog.currency, catalog.budget, catalog.epsilon) == ("rho", Fraction(1, 2), 0)


def test_a_ledger_in_epsilon():
    catalog = catalog_of(declared())
    assert (catalog.currency, catalog.budget, catalog.rho, catalog.delta) == ("epsilon", 4, 0, 0)


def test_public_n():
    catalog = catalog_of(declared({"neighbours": "replace-one", "units": "1000"}))
    assert (catalog.neighbours, catalog.units) == ("replace-one", 1000)


def test_the_salt_is_optional_and_of_one_spelling():
    assert declared({"salt": SALT}).salt == SALT.lower() == catalog_of(declared({"salt": SALT})).salt
    assert declared().salt == ""


UNKNOWN = {"town": {"type": "text", "keys": "unknown"}}
PAID = [{"epsilon": 1, "delta": "1e-9"}, {"rho": 1, "delta": "1e-9"}]


@pytest.mark.parametrize("ledger", PAID)
def test_unknown_keys_with_delta_and_salt(ledger):
    assert catalog_of(declared({"salt": SALT}, ledger, **UNKNOWN)).tables[0].columns[1].unknown_keys


@pytest.mark.parametrize(("curator", "ledger", "told"), [
    ({"salt": SALT}, {"epsilon": 1}, "costs delta, and the ledger has none. Write delta ="),
    ({"salt": SALT}, {"epsilon": 1, "delta": 0}, "costs delta, and the ledger has none."),
    ({}, {"epsilon": 1, "delta": "1e-9"}, "needs a salt"),
    ({"salt": 7}, {"epsilon": 1, "delta": "1e-9"}, "salt must be text in quotes"),
    ({"salt": "00"}, {"epsilon": 1, "delta": "x"}, "salt must be 32 hexadecimal digits"),
])
def test_unknown_keys_without(curator, ledger, told):
    with pytest.raises(Misconfigured) as caught:
        declared(curator, ledger, **UNKNOWN)
    assert told in str(caught.value)
    assert str(caught.value).count("salt must be") + str(caught.value).count("needs a salt") <= 1


def test_unknown_keys_of_a_public_table_are_told_once():
    public = {"file": "p.csv", "public": True, "columns": {"c": {"type": "text", "keys": "unknown"}}}
    raw = {"curator": {"protects": "people"}, "ledger": {"epsilon": 4}}
    with pytest.raises(Misconfigured) as caught:
        load(raw | {"tables": {"t": {"unit": "u", "columns": {"u": "integer"}}, "p": public}})
    assert "A public table's keys are its own values" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("ledger", [
    {"rho": 1}, {"rho": 1, "delta": 0}, {"rho": 1, "delta": 1}, {"rho": -1, "delta": "1e-9"}, {"delta": "1e-9"},
    {"rho": 1, "epsilon": 1, "delta": "1e-9"}, {"rho": True, "delta": "1e-9"}, {"rho": "?", "delta": "1e-9"},
])
def test_ledgers_that_are_none(ledger):
    with pytest.raises(Misconfigured) as caught:
        declared(ledger=ledger)
    assert len(str(caught.value).splitlines()) == 1  # one fault, told once
