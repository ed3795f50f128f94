"""The console's UI kit: stateless components that know tones and layouts, but no state or rules."""
