"""State of the pages for distributions."""
