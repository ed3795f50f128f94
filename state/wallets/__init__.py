"""State of the pages for wallets."""
