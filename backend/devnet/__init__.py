"""The embedded devnet in a person's hands: its clock, its faults, its beginning."""
