"""Memberships that organizations offered a person, and the person's answers."""
