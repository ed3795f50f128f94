"""Processing of every HTTP request: middleware, problems, limits, bodies and their storage."""
