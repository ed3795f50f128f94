"""State of the pages for controls of an asset."""
