"""One RPC URL with several machines behind it, as on public networks, in front of a real anvil."""
