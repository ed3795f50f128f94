"""State of the pages for parties."""
