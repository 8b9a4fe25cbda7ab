"""Check a receipt: what it claims is derived again, step by step, from the plan it holds.

By itself a receipt shows: its signature; that its plan's sensitivity is what it says (the stability fold, again); that
each mechanism's loss at that sensitivity is within its price; that the rule for unknown keys keeps its promise; that
the losses add up to the cost; that every reading the plan needs was paid for; and that grid, split and noise are those
the plan gets at this price. With the catalog: that the plan's public facts are the catalog's. With the ledger: that its
chain is whole and holds this very charge and answer.
Each file here holds one concern; `order.py` runs them all.
Checked in tests/test_verify.py, which changes every field of a receipt in turn.
"""

from __future__ import annotations

from dpcurator.verification.charges import one_charge
from dpcurator.verification.order import verify
from dpcurator.verification.steps import Step, Verification

__all__ = ["Step", "Verification", "one_charge", "verify"]
