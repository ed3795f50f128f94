"""The cap table of an asset at any time: who held what on every chain, and that it adds up."""
