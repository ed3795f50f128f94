"""People, their memberships, and who may be invited."""
