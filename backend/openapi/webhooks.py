"""The document's `webhooks`: what Signum posts to an endpoint, for each event type."""

from typing import Any

from backend.webhooks.catalogue import event_types
from backend.webhooks.schemas import EventTypeInfo

EVENT = "WebhookEvent"
_HEADERS = {
    "webhook-id": "The event. Attempts of one delivery repeat it, so skip an ID that you have handled.",
    "webhook-timestamp": "Unix seconds of the attempt. Refuse one that is more than five minutes old.",
    "webhook-signature": "Signatures by each valid secret, separated by spaces (Standard Webhooks, `v1,` and base64).",
}
_TEXT = {"type": "string", "maxLength": 1000}
_RESPONSES = {
    "WebhookReceived": {"description": "Received. Any other answer, and none within 15 seconds, is tried again."},
    "WebhookGone": {"description": "The endpoint is gone, and Signum disables it."},
}
_ID = {"type": "string", "format": "uuid"}
_STATUS = {"type": "string", "maxLength": 40}
_DATA = {
    "type": "object",
    "description": (
        "The changed record and what refers to it: IDs (`…_id`), chains (`…_eid`) and transactions (`…tx_hash`). "
        "It has no personal data. Fields can be added."
    ),
    "required": ["object", "id", "organization_id"],
    "properties": {
        "object": {"type": "string", "maxLength": 40, "description": "The kind of the record."},
        "id": _ID,
        "organization_id": _ID,
        "status": _STATUS | {"description": "Its status, if it has one."},
        "previous_status": _STATUS | {"description": "Its status before."},
        "changed": {
            "type": "array",
            "maxItems": 100,
            "items": {"type": "string", "maxLength": 100},
            "description": "The names of the fields that changed.",
        },
    },
}


def schema() -> dict[str, Any]:
    """Return the schema of a delivery's body."""
    return {
        "title": EVENT,
        "description": "An event, as it is posted to an endpoint.",
        "type": "object",
        "required": ["type", "timestamp", "data"],
        "properties": {
            "type": {"type": "string", "maxLength": 100, "description": "The event type. Types can be added."},
            "timestamp": {"type": "string", "format": "date-time", "maxLength": 40},
            "data": _DATA,
        },
    }


def describe(components: dict[str, Any]) -> dict[str, Any]:
    """Return the section: an item for each event type. Adds what they share to the components."""
    components["schemas"][EVENT] = schema()
    components["parameters"] |= {name: _header(name, text) for name, text in _HEADERS.items()}
    components["responses"] |= _RESPONSES
    return {info.type.value: {"post": _operation(info)} for info in event_types()}


def _header(name: str, text: str) -> dict[str, Any]:
    return {"name": name, "in": "header", "required": True, "description": text, "schema": _TEXT}


def _operation(info: EventTypeInfo) -> dict[str, Any]:
    of_type = {"properties": {"type": {"const": info.type.value}}}
    return {
        "operationId": f"on_{info.type.value.replace('.', '_')}",
        "summary": info.type.value,
        "description": f"{info.description}.",
        "tags": ["Webhooks"],
        "parameters": [{"$ref": f"#/components/parameters/{name}"} for name in _HEADERS],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": {"allOf": [{"$ref": f"#/components/schemas/{EVENT}"}, of_type]}}
            },
        },
        "responses": {
            "2XX": {"$ref": "#/components/responses/WebhookReceived"},
            "410": {"$ref": "#/components/responses/WebhookGone"},
        },
    }
