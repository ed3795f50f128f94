"""Wallets of organizations."""
