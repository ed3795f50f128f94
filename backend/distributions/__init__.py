"""Distributions: an asset paid out to many, each of whom claims with a proof under one merkle root."""
