"""The guided tours of the demo."""
