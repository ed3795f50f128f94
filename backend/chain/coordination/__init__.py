"""Which process reads a chain, when, and how far it has read."""
