"""The OpenID provider: applications that act in a person's name, and the tokens they are given."""
