"""State of the pages for assets."""
