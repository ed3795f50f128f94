"""Stories of an investor in the browser."""
