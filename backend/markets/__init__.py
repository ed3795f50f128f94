"""Markets: compliance-gated order books, and their orders."""
