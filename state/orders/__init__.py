"""State of the pages for orders."""
