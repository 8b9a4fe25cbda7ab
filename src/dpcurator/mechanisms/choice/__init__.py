"""Choices among public candidates by private scores, and thresholds."""
