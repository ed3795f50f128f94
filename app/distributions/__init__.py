"""Pages of distributions."""
