"""The evidence of an asset: what a pack says, and how its verification ended."""
