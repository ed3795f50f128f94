"""States of the investor's pages."""
