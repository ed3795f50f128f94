"""Attestations, and how they are written to the chain."""
