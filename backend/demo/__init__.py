"""The demo: a fictional business, created through the API and on the chains."""
