"""Test funds: the test currency of embedded chains, paid out to server wallets."""
