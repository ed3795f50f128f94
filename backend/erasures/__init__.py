"""Erasure of a party's or a person's data, as a law requires (GDPR, Art. 17), by the operator."""
