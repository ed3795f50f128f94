"""Helpers that several nouns share: firms, servers, crashes, guards."""
