"""A whole installation whose parts are killed, stopped, slowed down and deprived of their disk."""
