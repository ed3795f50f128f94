"""State of the pages for OAuth applications."""
