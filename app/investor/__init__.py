"""The investor's pages."""
