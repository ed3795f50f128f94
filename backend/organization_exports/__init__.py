"""The export of an organization: one archive with its rows and documents, without secrets."""
