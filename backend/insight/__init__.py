"""The state of an organization's business over the last year, from indexed events."""
