"""Generated requests, checked by all checks, to a served installation with a database and chains."""
