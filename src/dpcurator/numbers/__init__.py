"""Exact numbers: rationals as people write them, and enclosures of the reals that are not rational."""

from dpcurator.numbers.decimals import decimal_text
from dpcurator.numbers.enclosure import Enclosure, exp_neg, ln
from dpcurator.numbers.rational import positive, rational, whole

__all__ = ["Enclosure", "decimal_text", "exp_neg", "ln", "positive", "rational", "whole"]
