"""What a person has set for themselves: time zone, daily email, hidden cards, and what they have seen."""
