"""Attestations, and their way to the chain."""
