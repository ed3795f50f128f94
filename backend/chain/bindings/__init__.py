"""One module for each contract: the calls that change it, and what is read from it."""
