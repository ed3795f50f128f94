"""Components for wallets."""
