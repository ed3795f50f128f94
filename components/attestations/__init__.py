"""Components for attestations."""
