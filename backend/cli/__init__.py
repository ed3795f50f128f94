"""The command line: `signum` and its commands."""
