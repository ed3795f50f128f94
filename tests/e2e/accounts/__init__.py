"""Browser tests of signing in, second factors, applications and keys."""
