"""State of the pages for mail."""
