"""Estimates in floating point: fast, for planning and charts, never for a claim."""
