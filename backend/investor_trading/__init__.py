"""Trading of an investor (role `client`) with their own wallet: markets, and transactions that the wallet signs. Signum
has no key of it, stores nothing and sends nothing."""
