"""The audit log: every change of an organization, in a chain of hashes that shows whether one was altered."""
