"""Control of the embedded devnet: its clock, its faults, its reset."""
