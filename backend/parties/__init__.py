"""Identity parties and the decisions about them."""
