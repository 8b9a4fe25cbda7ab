"""Audits by exact output distributions."""
