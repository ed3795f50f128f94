"""Components for webhook endpoints."""
