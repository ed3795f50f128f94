"""Transactions: stored, priced, broadcast, confirmed, replaced and settled."""
