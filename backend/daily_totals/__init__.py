"""Daily totals of chain events, so that pages about a year do not read every event. The indexer maintains them."""
