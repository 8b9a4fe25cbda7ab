"""One value, one spelling; worked by hand."""

from fractions import Fraction

import pytest

from dpcurator.ledger import canonical

SPELLINGS = [
    ({"b": 1, "a": [True, None]}, b'{"a":[true,null],"b":1}'),
    (Fraction(2, 4), b'"1/2"'),
    (Fraction(3), b'"3/1"'),
    ({"epsilon": Fraction(1, 10)}, b'{"epsilon":"1/10"}'),
    ("é\ud800", b'"\\u00e9\\ud800"'),
    ((1, "x"), b'[1,"x"]'),
]


@pytest.mark.parametrize(("value", "spelling"), SPELLINGS)
def test_spelling(value, spelling):
    assert canonical(value) == spelling


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2}, b"bytes", {1: 2}, [{"a": {2: 3}}]])
def test_what_has_no_canonical_form_is_refused(value):
    with pytest.raises((TypeError, ValueError)):
        canonical(value)
