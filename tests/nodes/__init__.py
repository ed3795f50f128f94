"""Tests of the chain layer behind RPC URLs that are pools of machines, as public networks have them."""
