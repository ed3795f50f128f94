"""Amounts that count towards the daily limits of an asset."""
