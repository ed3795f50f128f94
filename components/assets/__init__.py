"""Components for assets."""
