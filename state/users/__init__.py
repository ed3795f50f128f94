"""State of the pages for accounts and sign-in."""
