"""Daily limits per asset, above which a second person must approve."""
