"""State of the pages for webhook endpoints."""
