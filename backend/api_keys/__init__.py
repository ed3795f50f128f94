"""Keys that programs sign in with."""
