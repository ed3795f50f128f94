"""State of the pages for chains."""
