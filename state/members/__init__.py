"""State of the pages for members."""
