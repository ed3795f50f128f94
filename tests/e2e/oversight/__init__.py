"""Browser tests of attestations, approvals, the audit log and webhooks."""
