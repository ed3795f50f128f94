"""Components for controls of an asset."""
