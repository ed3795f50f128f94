"""Figures, chart and calendar of the overview."""
