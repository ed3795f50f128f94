"""State of the pages for transfers."""
