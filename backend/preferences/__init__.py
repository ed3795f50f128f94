"""What a person has set for themselves: time zone, hidden cards, and what they have seen."""
