"""Components for transfers."""
