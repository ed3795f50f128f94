"""Signum without a browser: a package per noun, the chain, the database, the API."""
