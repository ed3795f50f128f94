"""The audit log: every change of an organization, in a hash chain that reveals alterations."""
