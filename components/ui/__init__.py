"""The console's kit: stateless components. They know tones and layouts, never a state or a rule."""
