"""The secret key of an installation, and the data keys that it wraps."""
