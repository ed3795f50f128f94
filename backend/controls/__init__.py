"""Issuer controls of a token: mint, burn, pause, freeze, forced transfer, recovery; each with a reason."""
