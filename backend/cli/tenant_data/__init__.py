"""Commands of the operator about the data of a tenant: its export, and the erasure of personal data."""
