"""Ledger tests in both currencies: a module that says `currency = in_both()` runs once in epsilon and once in rho."""

import pytest


def in_both():
    return pytest.fixture(scope="module", params=["epsilon", "rho"])(lambda request: request.param)
