"""The chain list, and the chains of an organization."""
