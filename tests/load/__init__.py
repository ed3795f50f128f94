"""`make load`: mixed traffic at half of a server's capacity, then three times as much as it can do."""
