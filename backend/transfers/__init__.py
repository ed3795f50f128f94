"""Transfers of an asset from the organization's server wallets."""
