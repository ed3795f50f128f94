"""Concurrency and rate limits by address, account and organization."""
