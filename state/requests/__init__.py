"""State of the pages for requests."""
