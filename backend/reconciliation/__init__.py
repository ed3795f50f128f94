"""Reconciliation of the tables with the chains: every difference is found and reported. This package changes nothing on
the chains."""
