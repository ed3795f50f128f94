"""CSV exports of lists."""
