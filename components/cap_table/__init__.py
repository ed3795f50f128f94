"""The cap table of an asset."""
