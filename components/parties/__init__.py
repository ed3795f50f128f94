"""Components for parties."""
