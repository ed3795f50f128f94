"""Components for orders."""
