"""JSON-RPC to the nodes of a chain, and conclusions from their answers."""
