"""What a person sees: the Reflex app and a module per page."""
