"""Assets: tokenized real-world assets, their tokens on each chain, and their rules."""
