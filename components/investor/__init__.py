"""Parts of the investor's pages."""
