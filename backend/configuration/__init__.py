"""The check of an installation's configuration: each variable, its source, and what is wrong with it."""
