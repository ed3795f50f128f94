"""Components for distributions."""
