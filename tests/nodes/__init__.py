"""Tests of the chain layer behind RPC URLs that are pools of machines, as on public networks."""
