"""The chain registry and the chains of an organization."""
