"""An operation of the OpenAPI document, with what its method needs."""

import re
from dataclasses import dataclass
from typing import Any

SECRETS = frozenset({"access_token", "refresh_token", "id_token", "redirect_to"})
"""Fields that are empty in a replay. A response that requires one is not retried with an idempotency key."""
JSON = "application/json"
STREAM = "text/event-stream"
FORM = "application/x-www-form-urlencoded"
Schema = dict[str, Any]


@dataclass(frozen=True)
class Parameter:
    """A parameter: its name in requests, its name and type in Python, and whether it is required."""

    wire: str
    kind: str
    is_required: bool

    @property
    def name(self) -> str:
        """Return the Python name: `assetId` is `asset_id`; a Python keyword or builtin gets an underscore."""
        snake = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", self.wire).lower().replace("-", "_").replace(".", "_")
        return f"{snake}_" if snake in ("from", "type", "format", "class") else snake


@dataclass(frozen=True)
class Taken:
    """A body: the record, whether it is optional, whether it is a form, whether other media types are accepted."""

    record: str | None
    is_optional: bool
    is_form: bool
    takes_content: bool


@dataclass(frozen=True)
class Described:
    """An operation.

    `answers` has the types of its responses by status without the plan of a dry run, which is `plan`.
    """

    id: str
    verb: str
    path: str
    chapter: str
    text: str
    path_parameters: list[Parameter]
    query: list[Parameter]
    body: Taken | None
    answers: dict[int, str]
    plan: str | None
    items: tuple[str, str] | None
    is_keyed: bool
    takes_version: bool
    records: frozenset[str]

    @property
    def rehearses(self) -> bool:
        """Return whether its dry run has a different response."""
        return self.plan is not None


def described(document: Schema, path: str, verb: str, entry: Schema) -> Described:
    """Parse an operation."""
    schemas = document["components"]["schemas"]
    given = [p for p in entry.get("parameters", []) if "$ref" not in p]
    parameters = {place: [_parameter(p) for p in given if p["in"] == place] for place in ("path", "query")}
    body = _taken(entry.get("requestBody"))
    kinds = _kinds(entry["responses"])
    rehearses = any(p.wire == "dry_run" for p in parameters["query"])
    plan = next((k for _, k in kinds if rehearses and k.endswith("Plan")), None)
    answers = _by_status([(status, kind) for status, kind in kinds if kind != plan])
    if events := next((kind for kind in answers.values() if kind.startswith("Events[")), None):
        answers = {200: events}  # the client itself handles the end of a stream
    items = _items(schemas, answers, parameters["query"])
    named = {plan, body and body.record, items and items[1]} | {
        name.removeprefix("Events[").removesuffix("]") for k in answers.values() for name in k.split(" | ")
    }
    named |= {p.kind.removesuffix(" | None") for group in parameters.values() for p in group}
    return Described(
        id=entry["operationId"],
        verb=verb.upper(),
        path=path.removeprefix("/v1"),
        chapter=entry["tags"][0],
        text=entry.get("description") or entry["summary"],
        path_parameters=parameters["path"],
        query=[p for p in parameters["query"] if not (plan and p.wire == "dry_run")],
        body=body,
        answers=answers,
        plan=plan,
        items=items,
        is_keyed=any("IdempotencyKey" in p.get("$ref", "") for p in entry.get("parameters", []))
        and not _is_secret(schemas, answers),
        takes_version=any("IfMatch" in p.get("$ref", "") for p in entry.get("parameters", [])),
        records=frozenset(n for n in named if n and n in schemas) | ({body.record} if body and body.record else set()),
    )


def _parameter(entry: Schema) -> Parameter:
    kind = _scalar(entry["name"], entry["schema"])
    return Parameter(entry["name"], kind, bool(entry.get("required")))


def _scalar(name: str, schema: Schema) -> str:
    """Return the Python type of a parameter.

    The document declares some numbers as text, because the API itself words their errors.
    """
    if kinds := [k for k in schema.get("anyOf", []) if k != {"type": "null"}]:
        return _scalar(name, kinds[0])
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if schema.get("format") == "uuid":
        return "Id"
    if "enum" in schema:
        return f"Literal[{', '.join(repr(value) for value in schema['enum'])}]"
    if schema.get("format") == "date-time":
        return "datetime | str"
    if name == "limit" or name.endswith("eid"):
        return "int"
    return {"integer": "int", "number": "float", "boolean": "bool"}.get(schema.get("type", ""), "str")


def _taken(body: Schema | None) -> Taken | None:
    if body is None:
        return None
    content = body["content"]
    schema = content.get(JSON, content.get(FORM, {})).get("schema", {})
    record = next((r for r in _references(schema)), None) or schema.get("title")
    return Taken(record, not body.get("required", False), FORM in content, any(k not in (JSON, FORM) for k in content))


def _references(schema: Schema) -> list[str]:
    """Return the names of the records that a schema is, or is one of."""
    kinds = [schema, *schema.get("anyOf", []), *schema.get("oneOf", [])]
    return [str(k["$ref"]).rsplit("/", 1)[-1] for k in kinds if "$ref" in k]


def _kinds(responses: Schema) -> list[tuple[int, str]]:
    found = []
    for status, response in responses.items():
        if status[0] in "23":
            found += [(int(status), kind) for kind in _answer(status, response)]
    return found


def _answer(status: str, response: Schema) -> list[str]:
    content = response.get("content", {})
    if status[0] == "3":
        return ["Location"]
    if STREAM in content:
        return [f"Events[{_references(content[STREAM]['schema']['properties']['data']['contentSchema'])[0]}]"]
    if JSON in content:
        return _references(content[JSON].get("schema", {})) or ["dict[str, Any]"]
    return ["Download"] if content else ["None"]


def _by_status(kinds: list[tuple[int, str]]) -> dict[int, str]:
    found: dict[int, str] = {}
    for status, kind in kinds:
        found[status] = f"{found[status]} | {kind}" if status in found else kind
    return found


def _items(schemas: Schema, answers: dict[int, str], query: list[Parameter]) -> tuple[str, str] | None:
    """Return the field of a page with its records, and their type; None where the response is not a page."""
    page = schemas.get(answers.get(200, ""), {}).get("properties", {})
    if "nextCursor" not in page or not any(p.wire == "cursor" for p in query):
        return None
    name = next(n for n, s in page.items() if s.get("type") == "array")
    return name, (_references(page[name]["items"]) or ["dict[str, Any]"])[0]


def _is_secret(schemas: Schema, answers: dict[int, str]) -> bool:
    fields = [schemas.get(kind, {}).get("properties", {}) for kind in answers.values()]
    return any(name in SECRETS and "anyOf" not in schema for f in fields for name, schema in f.items())
