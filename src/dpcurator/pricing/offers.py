"""What a caller offers to pay, read into exact values: a price, a delta, a confidence, and the rows they expect.

A number or text means the same here as everywhere (`numbers`): 0.1, "0.1" and Fraction(1, 10) are one tenth. All of it
follows from the words of the call and the catalog; no data is looked at. Checked in tests/curator/test_curator.py.
"""

from __future__ import annotations

from fractions import Fraction

from dpcurator.catalog.model import Catalog
from dpcurator.errors import Refusal
from dpcurator.numbers import positive, rational
from dpcurator.plan.nodes import Plan
from dpcurator.pricing.menu import ROWS
from dpcurator.pricing.prices import Price, epsilon_of, rho_of, share_of


def offered(catalog: Catalog, epsilon: object, rho: object, spend: object, delta: Fraction | None) -> Price:
    """The price of the one that is given: epsilon, rho, or a share of the whole budget. Raises Refusal."""
    if epsilon is not None:
        return epsilon_of(catalog, positive(epsilon, name="epsilon"), delta)
    if rho is not None:
        return rho_of(catalog, positive(rho, name="rho"), delta)
    text = spend.strip() if isinstance(spend, str) else spend
    if isinstance(text, str) and text.endswith("%"):
        return share_of(catalog, positive(text[:-1].strip(), name="spend") / 100, delta)
    raise Refusal("spend is a share of the whole budget.", cure='Write it as in "5%"; or give epsilon.')


def delta_of(delta: object) -> Fraction:
    """The most delta that a question may use. Raises Refusal."""
    found = rational(delta, name="delta")
    if not 0 <= found < 1:
        raise Refusal("delta must be at least 0 and below 1.", cure="Write it as in 1e-9.")
    return found


def level_of(confidence: object) -> Fraction:
    """The chance that an error bar holds. Raises Refusal."""
    level = rational(confidence, name="confidence")
    if not 0 < level < 1:
        raise Refusal("confidence must be above 0 and below 1.", cure="Write it as in 0.95.")
    return level


def expected_rows(plan: Plan, catalog: Catalog) -> int:
    """A public guess of the rows of a group: the public or expected number of units over the keys, one row each;
    without one, ROWS."""
    source = plan.source.source
    rows = source.source.table if hasattr(source.source, "table") else source.source.source.table
    table = next(table for table in catalog.tables if table.name == rows)
    units = catalog.units or table.expected_units
    if units is None:
        return ROWS
    return max(1, units // max(1, source.keys if source.listed else 1))
