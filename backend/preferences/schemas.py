"""API schemas of a person's preferences."""

from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints

from backend.core.fields import Body, Changes, Id, Moment, Record, Timestamp, never_null
from backend.preferences.time_zones import UTC, known_time_zone

MOST = 100
"""Hidden cards, and organizations with a seen time, that are kept of a person."""
ZONE_FORMAT = "iana-time-zone"
TimeZone = Annotated[
    str,
    StringConstraints(max_length=64),
    AfterValidator(known_time_zone),
    Field(json_schema_extra={"pattern": r"^[A-Za-z0-9_+/-]{1,64}$", "format": ZONE_FORMAT}),
]
"""A name of the IANA time zone database."""
Card = Annotated[str, Field(pattern=r"^[a-z-]{1,40}(:[0-9a-f-]{36})?$", max_length=77)]
"""A card of the console: its name, and the organization's ID if it is hidden in that one only."""
Cards = Annotated[list[Card], Field(max_length=MOST)]


class Digest(StrEnum):
    """How often a person gets an email of what waits for them."""

    OFF = "off"
    DAILY = "daily"


class SeenUntil(Body):
    """Until when a person has seen the notifications of an organization."""

    organization_id: Id
    at: Moment


class Seen(Record):
    """Until when the person has seen the notifications of an organization."""

    organization_id: Id
    at: Timestamp


class Preferences(Record):
    """A person's preferences. `time_zone`: in which the console shows times. `hidden`: cards of the console that
    the person has hidden. `seen`: by organization, until when they have seen its notifications. `digest`: whether they
    get a daily email of what waits for them; none is sent if nothing waits."""

    time_zone: str = UTC
    digest: Digest = Digest.OFF
    hidden: list[str] = []
    seen: list[Seen] = []


class PreferencesUpdate(Changes):
    """New preferences; omitted ones stay. `hide` and `show` hide cards and show them again, others stay as they are.
    `seen` moves the time of an organization forward, at most to now. The last 100 hidden cards and the 100 newest
    times are kept."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "examples": [{"time_zone": "Europe/Stockholm"}]})

    time_zone: Annotated[TimeZone | None, Field(json_schema_extra=never_null)] = None
    digest: Annotated[Digest | None, Field(json_schema_extra=never_null)] = None
    hide: Annotated[Cards | None, Field(json_schema_extra=never_null)] = None
    show: Annotated[Cards | None, Field(json_schema_extra=never_null)] = None
    seen: Annotated[SeenUntil | None, Field(json_schema_extra=never_null)] = None
