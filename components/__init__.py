"""Components of the console, by the area they belong to."""
