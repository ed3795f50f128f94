"""Prometheus metrics: of this process, and of the installation from its database."""
