"""Real-world cases that SQL questions over declared tables answer, named by id, on both engines.

`ask` asks at an epsilon at which noise is nothing, `quoted` looks at the price alone. README.md lists every case, with
the issue that one which is not a test waits for.
"""

from __future__ import annotations

import math
from fractions import Fraction as F

import pytest
from case_questions import read
from questions import catalog_with, planned, quoted

from dpcurator.catalog.model import EACH_ROW, Column, Table
from dpcurator.engines.reference import Reference
from dpcurator.entropy import SystemEntropy
from dpcurator.errors import Refusal
from dpcurator.mechanisms import DiscreteGaussian, DiscreteLaplace
from dpcurator.pricing.bars import bars
from dpcurator.privacy.zcdp import epsilon_of
from dpcurator.release.finish import finish
from dpcurator.release.release import release


def people(*values):
    return [f"p{i}" for i in range(len(values[0]))]


U = Column("u", "text")


# --- calibration and accuracy -------------------------------------------------------------------------------------


def test_cal_06_the_scale_is_the_sensitivity_over_epsilon():
    assert DiscreteLaplace.spending(F(10), sensitivity=65536).scale == F("6553.6")


def test_cal_08_a_tiny_scale_gives_no_noise_and_no_error():
    draws = DiscreteLaplace(F(1, 10_000)).sample(1000, SystemEntropy())
    assert all(1000 + int(draw) == 1000 for draw in draws)


def test_cal_10_the_number_of_columns_plays_no_part():
    table = Table("t", tuple(Column(f"c{i}", "text") for i in range(4)), EACH_ROW)
    (one,) = quoted("SELECT COUNT(*) FROM t", F(1, 20), catalog_with(table)).priced
    assert one.mechanism.scale == 20


def test_acc_01_an_error_bar_is_the_least_one():
    """Accuracy a at alpha means P(|Z| >= a) <= alpha, so a is the bar m plus 1; a = 2 up to scale 0.721347520444."""
    assert DiscreteLaplace(F("0.7213475")).error(F(1, 10)) + 1 == 2
    assert DiscreteLaplace(F("0.7213476")).error(F(1, 10)) + 1 == 3


def test_acc_03_the_error_bar_follows_the_level():
    table = Table("t", (Column("x", "text"),), EACH_ROW)
    for alpha, half in (("0.5", 0.69314718), ("0.05", 2.9957323), ("0.01", 4.6051702)):
        quote = quoted("SELECT COUNT(*) FROM t", F(1, 1000), catalog_with(table), confidence=1 - F(alpha))
        assert abs(float(bars(quote)[0].error) / 1000 - half) < 2e-3


def test_acc_04_the_error_of_a_cell_does_not_grow_with_their_number():
    table = Table("t", (Column("k", "integer", keys=tuple(range(10))),), EACH_ROW)
    quote = quoted("SELECT k, COUNT(*) FROM t GROUP BY k", 1, catalog_with(table))
    assert quote.priced[0].mechanism.scale == 1
    assert bars(quote)[0].error == 3  # least whole m with P(|Z| > m) <= 0.05


# --- sensitivity --------------------------------------------------------------------------------------------------


def test_sen_01_an_average_pays_for_sum_and_count():
    table = Table("t", (U, Column("x", "integer", F(0), F(100))), "u", max_rows=1)
    quote = quoted("SELECT AVG(x) FROM t", 1, catalog_with(table))
    assert [(one.ask.what, one.reading.l1 * one.reading.unit, one.epsilon) for one in quote.priced] == [
        ("centred", 100, F(1, 2)), ("present", 1, F(1, 2)),
    ]


def test_hunt_33_an_average_is_two_numbers():
    """At a price of 1 the centred sum (reach 100) and the count (reach 1) have a half each; not 1 and 1."""
    table = Table("t", (U, Column("x", "integer", F(0), F(100))), "u", max_rows=1)
    priced = quoted("SELECT AVG(x) FROM t", 1, catalog_with(table)).priced
    assert {one.ask.what: (one.epsilon, one.reading.l1 * one.reading.unit) for one in priced} == {
        "centred": (F(1, 2), 100), "present": (F(1, 2), 1),
    }


def test_sen_05_distances_of_a_vector_are_told_apart():
    table = Table("t", (U, Column("k", "integer", keys=tuple(range(16)))), "u", max_rows=1, max_groups=16)
    (one,) = quoted("SELECT k, COUNT(*) FROM t GROUP BY k", 1, catalog_with(table)).priced
    assert one.reading.l1 * one.reading.unit == 16
    assert one.reading.l2_squared * one.reading.unit**2 == 16  # the root is 4


def test_sen_06_three_rows_within_ten_move_a_sum_by_thirty():
    table = Table(
        "t", (U, Column("a", "text", keys=("a",)), Column("b", "integer", F(-10), F(10))), "u", max_rows=3, max_groups=1
    )
    (one,) = quoted("SELECT a, SUM(b) FROM t GROUP BY a", 1, catalog_with(table)).priced
    assert one.reading.l1 * one.reading.unit == 30  # adding or removing one unit


def test_sen_08_a_histogram_under_add_remove():
    table = Table("t", (Column("k", "text", keys=("a", "b", "c")),), EACH_ROW)
    (one,) = quoted("SELECT k, COUNT(*) FROM t GROUP BY k", 1, catalog_with(table)).priced
    assert (one.reading.l1, one.reading.l2_squared) == (1, 1)


def test_sen_10_equal_bounds(ask):
    five = {"u": list("abcde"), "z": [0, 3, -3, None, 0], "s": [7, 7, 7, 7, 7]}
    columns = (U, Column("z", "integer", F(0), F(0)), Column("s", "integer", F(7), F(7)))
    assert ask("SELECT SUM(z), AVG(z), AVG(s), SUM(s) FROM t", five, *columns) == [(0, 0.0, 7.0, 35)]
    quote = quoted("SELECT SUM(z), AVG(s) FROM t", 1, catalog_with(Table("t", columns, "u", max_rows=1)))
    (free,) = finish(quote, None)
    assert [cell.error for cell in free] == [0.0, 0.0]


# --- accounting ---------------------------------------------------------------------------------------------------


def test_com_03_the_parts_of_a_question_add_up_to_its_price():
    columns = (
        U,
        Column("region", "text", keys=("N", "S")),
        Column("x", "integer", F(0), F(1)),
        Column("y", "integer", F(0), F(1)),
    )
    table = Table("t", columns, "u", max_rows=1, max_groups=1)
    quote = quoted("SELECT region, SUM(x), COUNT(*), AVG(y) FROM t GROUP BY region", 1, catalog_with(table))
    assert [one.epsilon for one in quote.priced] == [F(1, 4)] * 4
    assert quote.epsilon == 1
    count = next(one for one in quote.priced if one.ask.what == "rows")
    assert count.mechanism.scale * count.reading.unit == 4


def test_com_04_the_count_shown_is_the_one_the_average_used():
    table = Table("t", (U, Column("age", "integer", F(0), F(100))), "u", max_rows=1)
    quote = quoted("SELECT AVG(age), COUNT(age) FROM t", F(1, 5), catalog_with(table))
    assert [one.ask.what for one in quote.priced] == ["centred", "present"]
    assert quote.epsilon == F(1, 5)


def test_hunt_54_questions_about_disjoint_people_are_one_question_by_groups(ask):
    """x < 50 and x >= 50, each row a unit: grouped by the condition, each has noise of epsilon 1 for 1."""
    table = Table("t", (Column("x", "integer", F(0), F(99)),), EACH_ROW)
    quote = quoted("SELECT x >= 50 AS upper, COUNT(*) AS n FROM t GROUP BY upper", 1, catalog_with(table))
    assert quote.epsilon == 1
    assert [one.mechanism.scale for one in quote.priced] == [1]
    asked = "SELECT x >= 50 AS upper, COUNT(*) AS n FROM t GROUP BY upper"
    assert ask(asked, {"x": [1, 49, 50]}, *table.columns, unit=EACH_ROW) == [(False, 2), (True, 1)]


def test_com_16_disjoint_groups_cost_what_one_person_can_touch():
    columns = (Column("user_id", "text"), Column("grp", "text", keys=tuple(f"g{i}" for i in range(7))))
    table = Table("t", columns, "user_id", max_rows=1, max_groups=3)
    quote = quoted("SELECT grp, COUNT(*) FROM t GROUP BY grp", 1, catalog_with(table))
    assert quote.priced[0].mechanism.scale * quote.priced[0].reading.unit == 3
    assert quote.priced[0].reading.l2_squared * quote.priced[0].reading.unit ** 2 == 3
    assert quote.epsilon == 1


def test_com_05_rho_is_never_a_negative_epsilon():
    assert epsilon_of(F("0.1"), F("0.9")) == 0
    assert 4.8865541 <= epsilon_of(F("0.5"), F("1e-6")) <= 5.7565218


def test_com_13_the_conversion_of_rho_is_the_improved_one():
    """One Gaussian of sigma 4, so rho = 1/32: exact 0.92634, improved 1.01229, old 1.23088."""
    assert 0.926341504 <= epsilon_of(F(1, 32), F("1e-5")) <= 1.0123


def test_com_18_no_noise_is_refused_by_name():
    for variance in (0, -1):
        with pytest.raises(Refusal, match="variance"):
            DiscreteGaussian(F(variance))
    with pytest.raises(Refusal, match="scale"):
        DiscreteLaplace(F(0))


# --- keys and contribution ----------------------------------------------------------------------------------------


def test_sel_10_an_empty_list_of_keys_gives_no_groups(ask):
    data = {"u": ["a", "b"], "k": ["x", "y"]}
    assert ask("SELECT k, COUNT(*) FROM t GROUP BY k", data, U, Column("k", "text", keys=())) == []


def test_hunt_35_every_pair_of_two_lists_is_answered(ask):
    """Two cities and 0 to 5: twelve rows, those with no row in the data too."""
    rows = {"u": ["a", "b", "c"], "city": ["Leeds", "York", "York"], "n": [1, 2, 3]}
    columns = (U, Column("city", "text", keys=("Leeds", "York")), Column("n", "integer", F(0), F(5)))
    found = ask("SELECT city, n, COUNT(*) FROM t GROUP BY city, n", rows, *columns)
    counted = {("Leeds", 1): 1, ("York", 2): 1, ("York", 3): 1}
    assert found == [(city, n, counted.get((city, n), 0)) for city in ("Leeds", "York") for n in range(6)]


def test_hunt_31_an_alias_that_is_also_a_column(ask):
    """GROUP BY looks for a column before an alias, so x is the column's 60 groups; bin is the three bins."""
    values = [1, 5, 11, 15, 21, 25, 31, 35, 41, 45, 51, 55]
    rows = {"u": [str(value) for value in values], "x": values}
    columns = (U, Column("x", "integer", F(0), F(59)))
    binned = ask("SELECT FLOOR(x/20)*20 AS bin, COUNT(*) FROM t GROUP BY bin", rows, *columns)
    assert binned == [(0, 4), (20, 4), (40, 4)]
    by_column = ask("SELECT FLOOR(x/20)*20 AS x, COUNT(*) FROM t GROUP BY x", rows, *columns)
    assert len(by_column) == 60
    assert [count for _, count in by_column] == [int(x in values) for x in range(60)]


def test_sel_11_listing_declared_keys_costs_nothing(ask):
    table = Table("t", (U, Column("alpha", "text", keys=("a", "b", "z"))), "u", max_rows=1, max_groups=1)
    quote = quoted("SELECT alpha FROM t GROUP BY alpha", 1, catalog_with(table))
    assert (quote.epsilon, quote.priced) == (0, ())
    data = {"u": ["1", "2", "3"], "alpha": ["a", "a", "b"]}
    assert ask("SELECT alpha FROM t GROUP BY alpha", data, *table.columns) == [("a",), ("b",), ("z",)]


def test_con_01_the_cap_is_enforced_on_the_data(ask):
    data = read("multi_rows_per_user.csv", value=int)
    columns = (Column("user_id", "text"), Column("grp", "text"), Column("value", "integer", F(0), F(10)))
    assert ask("SELECT COUNT(*) FROM t", data, *columns, max_rows=2) == [(8,)]
    table = Table("t", columns, "user_id", max_rows=2)
    quote = quoted("SELECT COUNT(*), SUM(value) FROM t", 2, catalog_with(table))
    assert [one.mechanism.scale * one.reading.unit for one in quote.priced] == [2, 20]


def test_con_07_rows_are_clipped_and_then_the_person_is_scaled(ask):
    """1..5 clipped to [1, 3] are 1, 2, 3, 3, 3: 12 in five rows, 7.2 in three."""
    data = {"u": ["a"] * 5, "v": [1, 2, 3, 4, 5]}
    columns = (U, Column("v", "integer", F(1), F(3)))
    assert ask("SELECT SUM(v) FROM t", data, *columns, max_rows=3) == [(7,)]
    table = Table("t", columns, "u", max_rows=3)
    assert quoted("SELECT SUM(v) FROM t", 1, catalog_with(table)).priced[0].mechanism.scale == 9 * 2**16


def test_con_08_a_huge_epsilon_gives_the_plain_sum(ask):
    data = {"u": [f"p{i}" for i in range(10)], "number": list(range(10))}
    assert ask("SELECT SUM(number) FROM t", data, U, Column("number", "integer", F(0), F(9)), epsilon=10**8) == [(45,)]


# --- special values and overflow ----------------------------------------------------------------------------------


def test_spv_01_nan_is_missing(ask):
    data = {"u": ["a", "b", "c"], "x": [1.0, math.nan, 2.0]}
    assert ask("SELECT SUM(x), AVG(x), COUNT(x) FROM t", data, U, Column("x", "float", F(0), F(10))) == [
        (pytest.approx(3, abs=1e-6), pytest.approx(1.5, abs=1e-6), 2)
    ]


def test_spv_05_a_count_of_present_values_is_noised_and_charged():
    table = Table("t", (Column("x", "float", F(0), F(10)),), EACH_ROW)
    quote = quoted("SELECT COUNT(x) FROM t", 1, catalog_with(table))
    assert quote.epsilon == 1
    exact = Reference({"t0": {"c0": [math.nan, *[1.0] * 15]}}).evaluate(quote.lowered.core)
    told = {release(quote, exact, SystemEntropy()) for _ in range(60)}
    assert len(told) > 1  # all equal with a chance below 0.47 ** 59


def test_spv_06_null_is_a_group_where_it_is_listed(ask):
    data = read("null_group_keys.csv", a=int, b=int)
    columns = (
        Column("user_id", "text"),
        Column("a", "integer", keys=(None, 1, 2, 3)),
        Column("b", "integer", F(0), F(10)),
    )
    rows = ask("SELECT a, COUNT(*), SUM(b) FROM t GROUP BY a ORDER BY a NULLS LAST", data, *columns)
    assert rows == [(1, 1, 3), (2, 3, 15), (3, 2, 3), (None, 1, 6)]


def test_spv_09_the_average_of_nobody_is_the_middle(ask):
    data = {"u": [f"p{i}" for i in range(10)], "g": ["A"] * 5 + ["B"] * 5, "x": [10.0] * 5 + [None] * 5}
    columns = (U, Column("g", "text", keys=("A", "B")), Column("x", "float", F(0), F(20)))
    rows = ask("SELECT g, AVG(x), COUNT(x) FROM t GROUP BY g", data, *columns)
    assert rows == [("A", pytest.approx(10, abs=1e-6), 5), ("B", 10.0, 0)]


def test_spv_11_nans_are_one_key_and_zeros_another(ask):
    data = {"u": [f"p{i}" for i in range(7)], "x": [math.nan, -math.nan, 1.0, 1.0, 2.0, 0.0, -0.0]}
    column = Column("x", "float", F(0), F(3), keys=(None, 0.0, 1.0, 2.0))
    rows = ask("SELECT x, COUNT(*) FROM t GROUP BY x", data, U, column)
    assert rows == [(None, 2), (0.0, 2), (1.0, 2), (2.0, 1)]


def test_num_01_a_sum_of_huge_numbers_does_not_wrap(ask):
    data = {"u": ["1", "2", "3"], "v": [1e38, 1e38, -5.0]}
    ((total,),) = ask("SELECT SUM(v) FROM t", data, U, Column("v", "float", F(-10), F(10) ** 38))
    assert total == pytest.approx(2e38, rel=1e-9)


def test_num_03_an_average_of_huge_numbers_is_in_their_range(ask):
    data = {"u": ["1", "2"], "x": [1e38, 1e38]}
    ((mean,),) = ask("SELECT AVG(x) FROM t", data, U, Column("x", "float", F(0), F(10) ** 38))
    assert mean == pytest.approx(1e38, rel=1e-9)


def test_num_04_a_sum_of_large_floats_of_both_signs(ask):
    column = Column("x", "float", -(F(10) ** 38), F(10) ** 38)
    for positive, total in ((4, -3e38), (3, -4e38)):
        x = [1e38] * positive + [-1e38] * 7
        ((found,),) = ask("SELECT SUM(x) FROM t", {"u": people(x), "x": x}, U, column)
        assert found == pytest.approx(total, rel=1e-6)


def test_num_06_noise_near_the_largest_integer_widens():
    table = Table("t", (Column("x", "integer", F(0), F(2**61)),), EACH_ROW)
    quote = quoted("SELECT SUM(x) FROM t", F(2**61, 10), catalog_with(table))  # scale 10
    exact = Reference({"t0": {"c0": [2**61, 2**61, 2**61, 2**61 - 2]}}).evaluate(quote.lowered.core)  # 2^63 - 2
    for _ in range(1000):
        ((cell,),) = finish(quote, release(quote, exact, SystemEntropy()))
        assert isinstance(cell.value, int)
        assert abs(cell.value - (2**63 - 2)) < 10_000


def test_num_08_a_sensitivity_beyond_every_number_is_refused_when_planned():
    table = Table("t", (U, Column("x", "integer", F(0), F(2**62))), "u", max_rows=4)
    with pytest.raises(Refusal, match=r"could pass 2\^126"):
        quoted("SELECT SUM(x) FROM t", 1, catalog_with(table))
    wide = (U, Column("k", "integer", keys=tuple(range(1000))), Column("x", "float", F(0), F(17) * 10**307))
    catalog = catalog_with(Table("t", wide, "u", max_rows=1, max_groups=1000))
    quote = quoted("SELECT k, SUM(x) FROM t GROUP BY k", 1, catalog)
    assert quote.priced[0].reading.l1 * quote.priced[0].reading.unit >= 1000 * 10**307  # exact, so it is finite


# --- SQL ----------------------------------------------------------------------------------------------------------

NULLS = (
    Column("user_id", "text"), Column("region", "text", keys=(None, "North", "South")), Column("a",
    "integer", F(0), F(10)),
    Column("b", "integer", F(0), F(10)), Column("c", "text"), Column("amount", "integer", F(0), F(100)),
)


def nulls():
    return read("nulls.csv", a=int, b=int, amount=int)


@pytest.mark.parametrize("order", [("*", "a", "b", "c"), ("a", "b", "c", "*"), ("c", "*", "b", "a")])
def test_sql_01_counts_of_columns_stay_apart(ask, order):
    listed = ", ".join(f"COUNT({name})" for name in order)
    total = dict(zip("*abc", (12, 8, 5, 10), strict=True))
    assert ask(f"SELECT {listed} FROM t", nulls(), *NULLS) == [tuple(total[name] for name in order)]
    rows = ask(f"SELECT region, {listed} FROM t GROUP BY region", nulls(), *NULLS)
    expected = {"North": (5, 4, 2, 5), "South": (4, 2, 2, 3), None: (3, 2, 1, 2)}
    for region, *counts in rows:
        assert counts == [dict(zip("*abc", expected[region], strict=True))[name] for name in order]


CATALOG = catalog_with(Table("t", NULLS, "user_id", max_rows=1, max_groups=1))


def test_sql_03_having_on_an_unknown_column_is_refused():
    with pytest.raises(Refusal, match="nosuch"):
        planned("SELECT region, SUM(amount) AS sm FROM t GROUP BY region HAVING nosuch > 1", CATALOG)


@pytest.mark.parametrize("question", ["SELECT a FROM t", "SELECT a, COUNT(*) FROM t", "SELECT * FROM t"])
def test_sql_05_single_rows_never_leave(question):
    with pytest.raises(Refusal, match="single rows"):
        planned(question, CATALOG)


def test_sql_07_window_functions_are_refused_in_plain_words():
    with pytest.raises(Refusal, match="a window function is not available"):
        planned("SELECT COUNT(DISTINCT b) OVER (PARTITION BY a) FROM t", CATALOG)


def test_sql_09_aliases_that_tools_write(ask):
    wanted = [("North", 5), ("South", 4), (None, 3)]
    for question in (
        'SELECT region AS "Region Name", COUNT(*) AS "Count" FROM t GROUP BY region ORDER BY 2 DESC',
        'SELECT region, COUNT(*) AS "COUNT(*)" FROM t GROUP BY region ORDER BY "COUNT(*)" DESC LIMIT 10',
        "SELECT region, COUNT(*) FROM t GROUP BY region ORDER BY COUNT(*) DESC",
    ):
        assert ask(question, nulls(), *NULLS) == wanted
    titles = planned('SELECT region AS "Region Name", COUNT(*) AS "COUNT(*)" FROM t GROUP BY 1', CATALOG).outputs
    assert [output.title for output in titles] == ["Region Name", "COUNT(*)"]


def test_sql_11_a_limit_inside_is_refused_and_outside_is_free():
    for question in (
        "SELECT COUNT(*) FROM (SELECT * FROM t LIMIT 100)",
        "SELECT AVG(a) FROM (SELECT a FROM t ORDER BY a DESC LIMIT 10)",
    ):
        with pytest.raises(Refusal, match=r"(LIMIT|ORDER BY) is not available in a subquery"):
            planned(question, CATALOG)
    limited = quoted("SELECT region, COUNT(*) FROM t GROUP BY region LIMIT 1", 1, CATALOG)
    assert limited.priced == quoted("SELECT region, COUNT(*) FROM t GROUP BY region", 1, CATALOG).priced


def test_sql_12_a_noisy_denominator_of_zero_or_below():
    table = Table("t", (U, Column("x", "integer", F(0), F(100)), Column("a", "text")), "u", max_rows=1)
    question = "SELECT AVG(x), SUM(x) / COUNT(*), 100.0 * COUNT(a) / COUNT(*) FROM t"
    quote = quoted(question, F(1, 20), catalog_with(table))
    tables = {"t0": {"c0": ["p", "q"], "c1": [50, 70], "c2": ["y", None]}}
    exact, below = Reference(tables).evaluate(quote.lowered.core), 0
    for _ in range(500):
        noisy = release(quote, exact, SystemEntropy())
        below += noisy.readings[-1][0] <= 0
        ((mean, *ratios),) = finish(quote, noisy)
        assert 0 <= mean.value <= 100
        assert all(ratio.value is None or math.isfinite(ratio.value) for ratio in ratios)
    assert below > 50  # of about 245: fewer with a chance below 1e-80


def test_sql_14_an_average_is_never_beyond_its_bounds():
    table = Table("t", (U, Column("age", "integer", F(18), F(90))), "u", max_rows=1)
    quote = quoted("SELECT AVG(age) FROM t", F(1, 5), catalog_with(table))
    tables = {"t0": {"c0": list("abcde"), "c1": [20, 30, 40, 50, 90]}}
    exact = Reference(tables).evaluate(quote.lowered.core)
    for _ in range(500):
        ((cell,),) = finish(quote, release(quote, exact, SystemEntropy()))
        assert 18 <= cell.low <= cell.value <= cell.high <= 90


# --- names and usability ------------------------------------------------------------------------------------------


def test_nam_01_a_hyphen_in_a_name(ask):
    columns = (U, Column("age", "integer", F(0), F(99)), Column("net-gain", "integer", F(0), F(10000)))
    data = {"u": list("abcde"), "age": [1] * 5, "net-gain": [0, 0, 0, 5000, 0]}
    assert ask('SELECT AVG("net-gain") FROM t', data, *columns) == [(pytest.approx(1000, abs=1e-6),)]
    for unquoted in ("net-gain", "`net-gain`"):
        with pytest.raises(Refusal, match="double quotes"):
            ask(f"SELECT AVG({unquoted}) FROM t", data, *columns)


def test_nam_07_names_that_differ_in_case(ask):
    columns = (
        Column("UserId", "text"),
        Column("Score", "integer", F(0), F(10)),
        Column("score", "integer", F(0), F(10)),
    )
    data = {"UserId": ["a", "b"], "Score": [1, 3], "score": [10, 10]}
    assert ask('SELECT AVG("Score"), AVG("score") FROM t', data, *columns) == [
        (pytest.approx(2, abs=1e-6), pytest.approx(10, abs=1e-6))
    ]
    with pytest.raises(Refusal, match="could be"):
        ask("SELECT avg(SCORE) FROM t", data, *columns)


def test_use_01_privacy_parameters_are_by_name_only():
    from dpcurator.curator.curator import Curator

    with pytest.raises(TypeError):
        Curator.ask(None, "SELECT COUNT(*) FROM t", 1)
    with pytest.raises(TypeError):
        DiscreteLaplace.spending(F(1), 1)


def test_use_03_a_forgotten_cap_is_asked_for_in_words():
    table = Table("t", (U, Column("g", "text", keys=("a",))), "u")
    with pytest.raises(Refusal, match="declares no cap on how many rows") as refused:
        planned("SELECT g, COUNT(*) FROM t GROUP BY g", catalog_with(table))
    assert "max_total = 20" in str(refused.value)
    assert "Rows(" not in str(refused.value)  # no dump of a plan


def test_use_05_counts_need_no_bounds(ask):
    data = {"u": ["a", "b", "b"], "x": [5, None, 7], "s": ["q", "r", None]}
    columns = (U, Column("x", "integer"), Column("s", "text"))
    rows = ask("SELECT COUNT(*), COUNT(x), COUNT(s), COUNT(DISTINCT u) FROM t", data, *columns, max_rows=2)
    assert rows == [(3, 2, 2, 2)]


def test_use_07_missing_bounds_are_a_refusal_not_a_null():
    table = Table("t", (U, Column("x", "integer")), "u", max_rows=1)
    with pytest.raises(Refusal, match="SUM\\(x\\) has no bounds"):
        planned("SELECT SUM(x) FROM t", catalog_with(table))


def test_use_09_keys_are_never_read_from_the_data():
    table = Table("t", (U, Column("age", "integer")), "u", max_rows=1, max_groups=1)
    for key in ("age", "FLOOR(age / 10) * 10"):
        with pytest.raises(Refusal, match="needs a public list of keys"):
            planned(f"SELECT {key}, COUNT(*) FROM t GROUP BY {key}", catalog_with(table))
    with pytest.raises(Refusal, match="needs a public list") as refused:
        planned("SELECT age, COUNT(*) FROM t GROUP BY age", catalog_with(table))
    assert "FLOOR(age / 10) * 10" in refused.value.cure
