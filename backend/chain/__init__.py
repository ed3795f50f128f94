"""Access to the chains: nodes, keys, transactions, contracts, relaying, indexing.

Only this package may import eth-account. Of the other packages it knows only the tables of the chain list
(`backend.chains.models`): each other package provides its own stream of what the indexer writes for it.
"""
