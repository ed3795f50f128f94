"""Live updates: streams of an organization's events and of a request's progress (Server-Sent Events)."""
