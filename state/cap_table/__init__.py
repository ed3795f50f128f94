"""The cap table of an asset at a time."""
