"""Accounting: what many releases reveal together, from their losses alone."""

from dpcurator.accounting.composition import Composition, compose

__all__ = ["Composition", "compose"]
