"""Components for accounts and sign-in."""
