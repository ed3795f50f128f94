"""People: their accounts, wallets, memberships and roles."""
