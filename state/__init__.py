"""State of the pages: no rules, no SQL, no chain access. All data comes from the API, with the user's own session."""
