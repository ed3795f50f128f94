"""Daily limits per asset."""
