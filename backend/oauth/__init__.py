"""The OpenID provider: applications that act for a person, and their tokens."""
