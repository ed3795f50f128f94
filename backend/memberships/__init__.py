"""What a person has been added to, and their own answer."""
