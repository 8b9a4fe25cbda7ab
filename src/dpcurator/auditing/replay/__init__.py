"""Audits by replaying a function on a neighbour with every mechanism output frozen."""
