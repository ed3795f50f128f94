"""Compliance: the rules of tokens and markets, evaluated off-chain with the same results as on-chain."""
