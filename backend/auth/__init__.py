"""Credentials, scopes, sessions: who is calling and what they may do."""
