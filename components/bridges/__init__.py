"""Components for bridges."""
