"""Email: written to the outbox in the transaction of its cause, and sent from there if a mail server is set."""
