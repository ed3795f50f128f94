"""Distributions: an asset paid out to many recipients, each claiming with a proof under one merkle root."""
