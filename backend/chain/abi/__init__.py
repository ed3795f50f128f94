"""The ABI of calls, events and errors."""
