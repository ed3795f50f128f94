"""Connections to PostgreSQL: their engines, pools and names."""
