"""Evidence of how an asset was kept compliant, as one archive."""
