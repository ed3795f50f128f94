"""Second factors: authenticator apps, passkeys, recovery codes, and fresh confirmation for sensitive operations."""
