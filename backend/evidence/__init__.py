"""What proves how an asset was kept compliant, as one archive."""
