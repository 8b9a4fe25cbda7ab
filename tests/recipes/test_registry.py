"""The recipe of a registry (bench/registry.py): under which caps counts by month are within 6 %, noise and cut.

The rule of bounding is worked out again with numpy; the product's own answers, with next to no noise, must leave out as
much. Nothing here rests on a draw.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import dpcurator as dp
from dpcurator.pricing.priced import typical

FILE = Path(__file__).parents[2] / "bench" / "registry.py"
SPEC = importlib.util.spec_from_file_location("bench_registry", FILE)
assert SPEC is not None
assert SPEC.loader is not None
bench = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(bench)


@pytest.fixture(scope="module")
def rows():
    return bench.registry()


def test_a_cap_on_rows_in_all_keeps_the_whole_error_within_six_per_cent(rows):
    """Noise is off by its scale on average; what is left out is exact. Caps that multiply hide half, or drown all."""
    curator = dp.rehearsing(bench.catalog())
    mean, found = len(rows["who"]) / bench.MONTHS, {}
    for caps in bench.CAPS:
        quote = curator.quote(bench.COUNTS, epsilon="0.2", cut=False, **caps)
        bar, noise = quote.priced[0].error(1 - quote.confidence), typical(quote.priced[0])
        found[tuple(caps.values())] = float(bar) / mean, float(noise) / mean, 1 - bench.kept(rows, **caps)
    for total in (15, 20):
        _, noise, cut = found[(total,)]
        assert noise + cut < 0.06
    bar, _, cut = found[(3, 3)]
    assert bar < 0.07
    assert cut > 0.5
    assert found[(12, 12)][0] > 1


def test_the_product_leaves_out_what_the_rule_says(tmp_path):
    few = bench.registry(people=500)
    curator = dp.open(bench.catalog(10**8), directory=tmp_path, visits=few)
    answers = curator.batch([bench.COUNTS], epsilon=10**6)
    assert answers[0]["n"] == np.bincount(few["month"], minlength=bench.MONTHS).tolist()  # 20 rows leave nothing out
    for caps in bench.CAPS[:6]:
        answer = curator.ask(bench.COUNTS, epsilon=10**6, cut=False, **caps)
        assert abs(sum(answer["n"]) / len(few["who"]) - bench.kept(few, **caps)) < bench.MONTHS / len(few["who"])
