"""Reports of unexpected errors to Sentry. Off by default."""
