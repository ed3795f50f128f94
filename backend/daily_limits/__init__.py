"""Daily limits per asset, above which a second person has to agree."""
