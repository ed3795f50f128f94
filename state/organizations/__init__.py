"""State of the pages for organizations and their hierarchy."""
