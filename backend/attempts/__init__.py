"""Attempts to break Signum, each of them real; the record shows what the rules, the contract and the chain say."""
