"""Everything that touches a chain: nodes, keys, transactions, contracts, relaying, indexing.

The only package that may import eth-account. Of the verticals it knows the registry's tables (`backend.chains.models`)
and nothing else: what the indexer writes for a vertical is that vertical's own stream.
"""
