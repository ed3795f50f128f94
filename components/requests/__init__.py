"""Components for requests."""
