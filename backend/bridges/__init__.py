"""Bridges: packets that carry an asset, its rules and its supply from one chain to another."""
