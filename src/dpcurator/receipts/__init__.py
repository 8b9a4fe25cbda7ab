"""Receipts: written by the curator, verified by anyone."""
