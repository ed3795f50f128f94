"""State of the pages for attestations."""
