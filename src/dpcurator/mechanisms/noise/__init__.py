"""Additive noise: discrete and real-valued Laplace and Gaussian mechanisms."""
