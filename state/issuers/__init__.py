"""State of the pages for attestation issuers."""
