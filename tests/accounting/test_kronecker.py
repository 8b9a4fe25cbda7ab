"""Products of rows: floors of the exact sums, and a total that tells what is missing."""

import random

import pytest

from dpcurator.accounting.pld.kronecker import Row, power, product, times


def some_row(chance, bits):
    cuts = sorted(chance.randint(0, 1 << bits) for _ in range(chance.randint(1, 9)))
    masses = [high - low for low, high in zip([0, *cuts], cuts, strict=False)]
    return Row.of(chance.randint(-5, 5), masses, bits)


def plain(one, other):
    sums = [0] * (len(one) + len(other) - 1)
    for i, first in enumerate(one.ints()):
        for j, second in enumerate(other.ints()):
            sums[i + j] += first * second
    return [mass >> one.bits for mass in sums]


@pytest.mark.parametrize("bits", [8, 16, 64, 128])
@pytest.mark.parametrize("seed", range(10))
def test_a_product_is_the_floor_of_the_exact_one(seed, bits):
    chance = random.Random(seed)
    one, other = some_row(chance, bits), some_row(chance, bits)
    for first, second in ((one, other), (one, one)):
        found = times(first, second)
        assert found.ints() == plain(first, second)
        assert found.start == first.start + second.start
        assert found.total() == sum(found.ints())


def test_the_whole_mass_in_one_place_fits_its_slot():
    one = Row.of(0, [0, 1 << 64, 0], 64)
    assert times(one, one).ints() == [0, 0, 1 << 64, 0, 0]


@pytest.mark.parametrize("masses", [[257], [-1, 2], [200, 200]])
def test_more_than_everything_is_an_error(masses):
    with pytest.raises(ValueError, match="sum to at most 1"):
        Row.of(0, masses, 8)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 100])
def test_a_power_is_a_product_of_so_many(count):
    one = some_row(random.Random(count), 128)
    found, right = power(one, count, 0.0), one
    for _ in range(count - 1):
        right = times(right, one)
    assert found.start <= right.start + len(right)
    exact = {right.start + i: mass for i, mass in enumerate(right.ints())}
    for i, mass in enumerate(found.ints()):
        assert abs(mass - exact.get(found.start + i, 0)) <= 2 * count * len(right)


def test_a_product_of_rows_in_any_order():
    rows = [some_row(random.Random(seed), 128) for seed in range(5)]
    one, other = product(rows, [0.0] * 5), product(rows[::-1], [0.0] * 5)
    assert one.total() == pytest.approx(other.total(), rel=1e-30)
    assert (one.start, len(one)) == (other.start, len(other))


def test_trimming_takes_little_and_keeps_places():
    row = Row.of(3, [1, 2, 100, 100, 3, 1], 8)
    kept = row.trimmed(8 / 256)
    assert (kept.start, kept.ints()) == (5, [100, 100])
    assert row.trimmed(0.0).ints() == row.ints()


def test_masses_apart_keep_their_places():
    row = Row.of(-2, [1, 2, 3], 8)
    assert (row.apart(3).start, row.apart(3).ints()) == (-6, [1, 0, 0, 2, 0, 0, 3])
    assert row.apart(1) is row
