"""Schemas of problems."""

from typing import Any

REF = "#/components/schemas/"


def _extended(description: str, required: list[str], properties: dict[str, Any]) -> dict[str, Any]:
    extension = {"type": "object", "required": required, "properties": properties}
    return {"description": description, "allOf": [{"$ref": REF + "Problem"}, extension]}


_FINDING = {
    "type": "object",
    "required": ["pointer", "detail"],
    "properties": {
        "pointer": {"type": "string", "description": "JSON pointer into the body."},
        "detail": {"type": "string"},
    },
}
_PREREQUISITE = {
    "type": "object",
    "required": ["state", "satisfied", "detail", "resolution"],
    "properties": {
        "state": {"type": "string"},
        "satisfied": {"type": "boolean"},
        "detail": {"type": "string"},
        "resolution": {"$ref": REF + "Resolution"},
    },
}

SCHEMAS: dict[str, Any] = {
    "Problem": {
        "type": "object",
        "description": "RFC 9457. `type` is `about:blank` for generic errors, else the address of an explanation.",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": {"type": "string", "format": "uri-reference"},
            "title": {"type": "string"},
            "status": {"type": "integer", "minimum": 400, "maximum": 599},
            "detail": {"type": "string"},
            "instance": {"type": "string", "format": "uri", "description": "ID of the request."},
        },
    },
    "FieldsProblem": _extended(
        "The invalid fields and their errors; the input is never echoed.",
        ["errors"],
        {"errors": {"type": "array", "items": _FINDING}},
    ),
    "ScopeProblem": _extended("The credential lacks a scope.", ["scope"], {"scope": {"$ref": REF + "Scope"}}),
    "RuleProblem": _extended(
        "A rule about credentials, second factors, proofs, IP addresses or versions refused. `resolution` names the "
        "call that satisfies it.",
        ["rule", "resolution"],
        {
            "rule": {
                "type": "string",
                "enum": [
                    "second_factor",
                    "both_credentials",
                    "fresh_factor",
                    "fresh_proof",
                    "second_factor_required",
                    "ip_address",
                    "if_match",
                ],
            },
            "resolution": {"$ref": REF + "Resolution"},
            "address": {
                "type": ["string", "null"],
                "description": "`ip_address` only: the caller's IP address as Signum sees it.",
            },
        },
    ),
    "VersionProblem": _extended("The record's current version.", ["etag"], {"etag": {"type": "string"}}),
    "PrerequisitesProblem": _extended(
        "Prerequisites, including satisfied ones, and their order.",
        ["prerequisites", "dependencyChain"],
        {
            "prerequisites": {"type": "array", "items": _PREREQUISITE},
            "dependencyChain": {"type": "array", "items": {"type": "string"}},
        },
    ),
    "ResolutionProblem": _extended(
        "The call that removes the cause.", ["resolution"], {"resolution": {"$ref": REF + "Resolution"}}
    ),
    "RulesProblem": _extended(
        "The rules of token and market that refused.",
        ["rules"],
        {"rules": {"type": "array", "items": {"$ref": REF + "RuleVerdict"}}},
    ),
}
