"""State of the demo's part of the sign-in page."""
