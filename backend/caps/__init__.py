"""Caps of assets: how their chains share them."""
