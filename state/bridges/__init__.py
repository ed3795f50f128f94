"""State of the pages for bridges."""
