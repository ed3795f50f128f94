"""What happened to an asset, in one list."""
