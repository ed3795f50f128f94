"""Reusable pieces of the console."""
