"""Sensitivity of plain functions: global by rules or by trying all neighbours, local and smooth where it is known."""
