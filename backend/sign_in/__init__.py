"""Sign-in, sessions, passwords and the wallets of an account."""
