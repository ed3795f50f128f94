"""Browser tests of assets, markets, bridges and distributions."""
