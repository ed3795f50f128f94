"""Coordination of processes that read chains."""
