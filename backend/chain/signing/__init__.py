"""Server wallets: keys, nonces, and signed transactions."""
