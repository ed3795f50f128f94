"""The console: the Reflex app, with one module per page."""
