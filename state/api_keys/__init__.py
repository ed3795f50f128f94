"""State of the pages for API keys."""
