"""Second factors: authenticator apps, passkeys, recovery codes, and the fresh factor of sensitive operations."""
