"""The node check: what an RPC URL supports, whether that is enough for Signum, and the settings that fit it."""
