"""What every list offers: pages, sorts, filters by time, the text search `q`, an estimated count."""
