"""What a check finds."""


class Differs(Exception):
    """The cluster does not do what it must; the text says what was seen."""
