"""Accounts that a person may mean: the organization's wallets, its parties, an asset's holders, recent addresses."""
