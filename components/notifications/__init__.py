"""Parts that show what waits for the user."""
