"""Components for API keys."""
