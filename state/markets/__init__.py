"""State of the pages for markets."""
