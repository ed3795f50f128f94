"""The truth on the chains against the tables: every difference, found and told. Nothing is put right here."""
