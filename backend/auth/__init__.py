"""Credentials, scopes and sessions: authentication and authorization."""
