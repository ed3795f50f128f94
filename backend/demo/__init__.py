"""The demo: an invented business, made through the API and the chains."""
