"""Components for OAuth applications."""
