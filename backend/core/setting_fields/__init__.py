"""Parts of the settings: where they come from, types of fields, and groups of them."""
