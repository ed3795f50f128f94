"""Failures of requests: the call that removes the cause of one."""
