"""Signum's own contracts on a chain, and the preparation of a chain."""
