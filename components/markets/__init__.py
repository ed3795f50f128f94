"""Components for markets."""
