"""Components for organizations and their hierarchy."""
