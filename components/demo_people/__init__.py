"""The demo's part of the sign-in page."""
