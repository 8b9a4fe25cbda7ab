"""Bounds on compositions with a formula and a proof."""
