"""Transfers of an asset by the organization's server wallets."""
