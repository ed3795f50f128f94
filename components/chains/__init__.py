"""Components for chains."""
