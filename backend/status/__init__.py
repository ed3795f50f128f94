"""Health, readiness, and documentation of error types."""
