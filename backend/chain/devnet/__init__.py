"""The embedded chains: anvil, its clock, its faucet and its faults."""
