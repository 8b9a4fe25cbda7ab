"""Certified bounds from the whole privacy loss distribution (PLD), by integer arithmetic on a grid."""
