"""Pages of sign-in and of the user's account."""
