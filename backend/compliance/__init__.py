"""Compliance: the rules of tokens and markets, decided off the chain as on it."""
