"""Mail: written into the outbox in the transaction of its cause, sent from there where a mail server is set."""
