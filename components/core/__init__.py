"""Components shared by all pages."""
