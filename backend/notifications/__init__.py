"""What waits for a person in an organization: computed, not stored."""
