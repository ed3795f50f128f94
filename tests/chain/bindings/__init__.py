"""Bindings of contracts."""
