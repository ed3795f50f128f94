"""Components for members."""
