"""Controls of an issuer over a token: mint, burn, pause, freeze, forced transfer, recovery; each with a reason."""
