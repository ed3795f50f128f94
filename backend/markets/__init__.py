"""Markets: compliance-gated order books, their orders and trades."""
