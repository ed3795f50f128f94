"""Whether a process with these settings could use the keys in the database."""

import psycopg

from backend.core.connections import database
from backend.core.connections.embedded import outside_url
from backend.core.errors import CannotStart
from backend.core.secret_keys.keyring import opened
from backend.core.settings import Settings


def refusal(settings: Settings) -> str | None:
    """Return why a start would refuse the secret key; None where it would not."""
    try:
        database.start(settings.outside_database or outside_url(settings.home))
        with database.thread_connection() as connection:
            opened(connection, {})
    except CannotStart as error:
        return str(error)
    except psycopg.errors.UndefinedTable:
        return None  # of an earlier version, or new: the first start makes the keys
    except psycopg.Error:
        return "The database cannot be read, so the secret key was not compared with it."
    return None
