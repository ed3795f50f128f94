"""Parts of the page of an asset's evidence."""
