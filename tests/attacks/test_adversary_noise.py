"""Found by attack: statements that meant something else, and error bars that could be passed. Each once, by hand.

Values without noise come from `finish` over exact integers. Nothing here is random.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from dpcurator.aggregates import AGGREGATES
from dpcurator.catalog.bind import catalog_of
from dpcurator.catalog.load import load
from dpcurator.engines.reference import Reference
from dpcurator.errors import Refusal
from dpcurator.fronts.sql import parse
from dpcurator.plan.bind import bind
from dpcurator.pricing.bars import bars
from dpcurator.pricing.quote import Quote, price
from dpcurator.release.finish import finish
from dpcurator.release.release import Noisy, combine

COLUMNS = {
    "who": "integer",
    "dose": {"type": "float", "keys": [0.1, 0.25, 2.5]},
    "a": {"type": "text", "keys": ["x", "y"]},
    "b": {"type": "text", "keys": ["x", "y"]},
    "seen": "boolean",
    "level": {"type": "integer", "keys": [1, 2]},
}
ROWS = [(0, 0.1, "x", "y", 1, 1), (1, 0.25, "x", "x", 1, 1), (2, 2.5, "y", "x", 0, 2), (3, 0.1, "y", "y", None, 2)]
TABLES = {"t0": {f"c{i}": [row[i] for row in ROWS] for i in range(len(COLUMNS))}}
CATALOG = catalog_of(
    load(
        {
            "curator": {"protects": "people"},
            "ledger": {"epsilon": 4},
            "tables": {"t": {"unit": "each row", "columns": COLUMNS}},
        },
        directory=Path("."),
    )
)


def quoted(text: str) -> Quote:
    return price(bind(parse(text), CATALOG, AGGREGATES), Fraction(1), CATALOG)


def answered(text: str, moved: int = 0) -> list[tuple[object, ...]]:
    """The rows of values when every reading is its exact one, moved by `moved`."""
    return [tuple(cell.value for cell in row) for row in cells(text, moved)]


def cells(text, moved=0):
    quote = quoted(text)
    rows = Reference(TABLES).evaluate(quote.lowered.core).open_for_release() if quote.priced else ()
    noisy = [tuple(value + moved for value in combine(rows, one)) for one in quote.lowered.combinations]
    return finish(quote, Noisy(quote.lowered.keys, tuple(noisy)))


@pytest.mark.parametrize(
    "condition",
    ["dose = 0.1", "dose IN (0.1, 7)", "dose BETWEEN 0.1 AND 0.2", "dose <= 0.1", "NOT dose > 0.1", "dose < 0.25",
     "0.1 = dose", "dose = 0.1000000000000000055511151231257827", "NULLIF(dose, 0.1) IS NULL", "2 * dose = 0.2"],
)
def test_a_float_key_meets_a_decimal_as_in_where(condition):
    """dose = 0.1 was false in HAVING, where the key's binary digits were held against one tenth."""
    assert answered(f"SELECT dose, COUNT(*) FROM t GROUP BY dose HAVING {condition}") == [(0.1, 2)]


@pytest.mark.parametrize(
    "condition",
    ["seen = TRUE IS NULL", "seen = FALSE IS NOT NULL", "seen <> seen ISNULL", "seen = (TRUE) NOTNULL",
     "COUNT(*) > NULL IS NULL", "NOT seen = TRUE IS NULL", "seen = COUNT(*) BETWEEN 1 AND 2 IS NULL",
     "seen = TRUE = TRUE", "TRUE = COUNT(*) > 1"],
)
def test_what_has_two_readings_is_refused(condition):
    """The parser reads a = b IS NULL as a = (b IS NULL); engines and the standard as (a = b) IS NULL."""
    with pytest.raises(Refusal, match="more than one reading"):
        parse(f"SELECT seen, COUNT(*) FROM t GROUP BY seen HAVING {condition}")


@pytest.mark.parametrize(
    "condition",
    ["(seen = TRUE) IS NULL", "seen = (TRUE IS NULL)", "seen IS NULL = TRUE", "seen = TRUE AND seen IS NULL",
     "COUNT(*) BETWEEN 1 AND 2 AND seen IS NULL", "COUNT(*) + 1 IS NULL", "seen = TRUE OR COUNT(*) > 1"],
)
def test_what_has_one_reading_is_not(condition):
    assert parse(f"SELECT seen, COUNT(*) FROM t WHERE who > 1 GROUP BY seen HAVING {condition} ORDER BY seen IS NULL")


def test_a_grouping_column_comes_before_an_alias_except_alone_in_order_by():
    """HAVING b = 'x' meant the item titled b, which is the column a."""
    swapped = "SELECT a AS b, b AS a, COUNT(*) AS n FROM t GROUP BY a, b"
    assert answered(f"{swapped} HAVING b = 'x' ORDER BY b") == [("x", "x", 1), ("y", "x", 1)]
    assert answered(f"{swapped} HAVING a = 'x' ORDER BY b, a DESC") == [("x", "y", 1), ("x", "x", 1)]
    signed = "SELECT -level AS level FROM t GROUP BY level"
    assert answered(f"{signed} ORDER BY level") == [(-2.0,), (-1.0,)]
    assert answered(f"{signed} ORDER BY level * 1") == [(-1.0,), (-2.0,)]
    assert answered(f"{signed} HAVING level > 1") == [(-2.0,)]
    assert answered("SELECT COUNT(*) AS who FROM t HAVING who > 3") == [(4,)]


@pytest.mark.parametrize("text", ["COALESCE(NULLIF(COUNT(*), 4), 100)", "COALESCE(0 * (1 / (COUNT(*) - 4)), 7)"])
def test_what_may_be_null_without_the_noise_has_no_bound(text):
    """The exact count is 4, so the value without noise is the second one; a bar around the first would be false."""
    ((cell,),) = cells(f"SELECT {text} FROM t", moved=1)
    ((exact,),) = cells(f"SELECT {text} FROM t")
    assert cell.value != exact.value
    assert (cell.error, cell.low, cell.high) == (None, None, None)


def test_nullif_of_what_cannot_be_equal_keeps_its_bound():
    ((cell,),) = cells("SELECT NULLIF(COUNT(*), 1000) FROM t")
    assert cell.error is not None
    ((cell,),) = cells("SELECT NULLIF(COUNT(*), NULL) FROM t")
    assert cell.error is not None


@pytest.mark.parametrize("places", [-3, -1, 0, 1])
def test_the_bar_of_a_rounded_value_holds_for_every_noise_within_the_bar(places):
    """1,499 and 1,505 are 1,000 apart once rounded to thousands; the quote said the noise and 500."""
    (plain,) = bars(quoted("SELECT 1 * COUNT(*) FROM t"))
    (rounded,) = bars(quoted(f"SELECT ROUND(COUNT(*), {places}) FROM t"))
    reach = int(plain.error)
    for moved in range(-reach, reach + 1):
        for start in (0, 495, 1495):
            text = f"SELECT ROUND(COUNT(*) + {start}, {places}) FROM t"
            (((exact,),), ((noisy,),)) = (answered(text), answered(text, moved))
            assert abs(Fraction(noisy) - Fraction(exact)) <= rounded.error
    assert rounded.error <= plain.error + Fraction(10) ** -places


@pytest.mark.parametrize("text", ["SELECT dose FROM t GROUP BY dose", "SELECT dose, COUNT(*) FROM t GROUP BY dose"])
def test_an_infinite_key_is_refused_in_words(text):
    """A question whose values are all public raised ValueError; one with a price was refused without its cure."""
    columns = {"who": "integer", "dose": {"type": "float", "keys": [float("inf"), 1.0]}}
    declared = {
        "curator": {"protects": "people"},
        "ledger": {"epsilon": 4},
        "tables": {"t": {"unit": "each row", "columns": columns}},
    }
    catalog = catalog_of(load(declared, directory=Path(".")))
    with pytest.raises(Refusal, match="infinity"):
        bind(parse(text), catalog, AGGREGATES)


@pytest.mark.parametrize(
    "text",
    ["SELECT COUNT(*, level) FROM t", "SELECT COUNT(*) FROM t WHERE level IN",
     "SELECT COUNT(*) FROM t WHERE level IN ()",
     "SELECT COUNT(*) FROM t LIMIT 1 WHERE level = 1", "SELECT COUNT(*) FROM t HAVING COUNT(*) > 1 WHERE level = 1",
     "SELECT COUNT(*) FROM t ORDER BY 1 ASC DESC", "SELECT COUNT(*) FROM t ORDER BY 1 NULLS FIRST NULLS LAST",
     "SELECT COUNT(*) FROM t GROUP BY", "SELECT COUNT(*) FROM t WHERE level ! IN (1)",
     "SELECT COUNT(*) FROM t WHERE ! level > 1"],
)
def test_no_word_is_read_past(text):
    """The parser takes each of these; an argument, a clause's order or a word of them was dropped in silence."""
    with pytest.raises(Refusal):
        parse(text)


def test_clauses_in_their_order_and_names_like_them_are_taken():
    assert parse("SELECT COUNT(*) AS offset FROM t WHERE who = 1 ORDER BY 1 OFFSET 1 LIMIT 2").limit == 2
