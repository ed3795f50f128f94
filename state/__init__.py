"""What pages know: no rules, no SQL, no chain; everything comes from the API, with the person's own session."""
