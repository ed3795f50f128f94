"""Organizations as attestation issuers."""
