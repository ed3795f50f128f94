"""Components for approvals."""
