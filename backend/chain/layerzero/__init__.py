"""LayerZero: endpoints, paths and the delivery of packets."""
