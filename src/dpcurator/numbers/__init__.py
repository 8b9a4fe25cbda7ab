"""Exact numbers: rationals as people write them, and enclosures of the reals that are not rational."""

from dpcurator.numbers.rational import decimal_text, positive, rational, whole

__all__ = ["decimal_text", "positive", "rational", "whole"]
