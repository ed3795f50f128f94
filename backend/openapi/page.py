"""The reference page as HTML: chapters by tag, with their operations, generated from the document."""

import re
from collections.abc import Iterable
from html import escape
from typing import Any

import orjson

from backend.openapi.shapes import content_of, rows_of, words_of

CREDENTIALS = {
    "accessToken": '-H "Authorization: Bearer $TOKEN"',
    "apiKey": '-H "x-api-key: $SIGNUM_KEY"',
}
METHOD_WORDS = {"get": "GET", "post": "POST", "put": "PUT", "patch": "PATCH", "delete": "DELETE"}


def render(document: dict[str, Any], style: str, origin: str) -> str:
    """Return the whole page."""
    chapters = [(tag["name"], _operations(document, tag["name"])) for tag in document["tags"]]
    about = {tag["name"]: tag["description"] for tag in document["tags"]}
    info = document["info"]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(info['title'])} API reference</title><style>{style}</style></head><body>"
        '<a class="skip" href="#main">Skip to the operations</a>'
        f'{_contents(chapters)}<main id="main">'
        f'<header><h1>{escape(info["title"])} API</h1><p class="base">Version {escape(info["version"])} · '
        f'<code>{escape(origin)}/v1</code> · <a href="/v1/openapi.json">OpenAPI 3.1</a> · <a href="/">Console</a></p>'
        f"{prose(info['description'])}</header>"
        f"{''.join(_chapter(document, name, about[name], found, origin) for name, found in chapters)}"
        f"{_scopes(document)}</main></body></html>\n"
    )


Found = list[tuple[str, str, dict[str, Any]]]


def _operations(document: dict[str, Any], tag: str) -> Found:
    return [
        (path, method, entry)
        for path, item in document["paths"].items()
        for method, entry in item.items()
        if entry["tags"][0] == tag
    ]


def _contents(chapters: Iterable[tuple[str, Found]]) -> str:
    groups = "".join(
        f"<details><summary>{escape(name)}<span>{len(found)}</span></summary><ul>"
        + "".join(
            f'<li><a href="#{entry["operationId"]}"><b class="m {method}">{METHOD_WORDS[method]}</b>'
            f"{escape(entry['summary'])}</a></li>"
            for _, method, entry in found
        )
        + "</ul></details>"
        for name, found in chapters
    )
    return f'<nav aria-label="Operations">{groups}</nav>'


def _chapter(document: dict[str, Any], name: str, about: str, found: Found, origin: str) -> str:
    body = "".join(_operation(document, path, method, entry, origin) for path, method, entry in found)
    head = f'<h2 id="{_slug(name)}">{escape(name)}</h2>{prose(about)}'
    return f'<section aria-labelledby="{_slug(name)}">{head}{body}</section>'


def _operation(document: dict[str, Any], path: str, method: str, entry: dict[str, Any], origin: str) -> str:
    text, _, scopes = entry.get("description", "").partition("\n\nScope: ")
    access = f"Scope {_chips(scopes)}" if scopes else ("No credential" if not entry["security"] else "A credential")
    name = entry["operationId"]
    return (
        f'<article id="{name}"><h3><a href="#{name}">{escape(entry["summary"])}</a></h3>'
        f'<p class="line"><b class="m {method}">{METHOD_WORDS[method]}</b><code>{_path(path)}</code></p>'
        f'<p class="access">{access}</p>{prose(text)}'
        f"{_parameters(document, entry)}{_body(document, entry)}{_responses(document, entry)}"
        f"<details><summary>curl</summary>{_code(curl(document, path, method, entry, origin))}</details></article>"
    )


def _chips(words: str) -> str:
    return re.sub(r"`([^`]+)`", r'<code class="scope">\1</code>', escape(words.rstrip("."), quote=False))


def _parameters(document: dict[str, Any], entry: dict[str, Any]) -> str:
    known = [_resolved(document, p) for p in entry.get("parameters", [])]
    rows = [
        (p["name"], p["in"], words_of(document, p["schema"]), p.get("required", False), p.get("description", ""))
        for p in known
    ]
    return _table("Parameters", rows) if rows else ""


def _body(document: dict[str, Any], entry: dict[str, Any]) -> str:
    for kind, content in entry.get("requestBody", {}).get("content", {}).items():
        return _table("Body", rows_of(document, content["schema"]), kind) + _example(document, content)
    return ""


def _responses(document: dict[str, Any], entry: dict[str, Any]) -> str:
    parts = []
    for status, given in entry["responses"].items():
        response = _resolved(document, given)
        kind, schema = content_of(response)
        head = f'<b class="s s{status[0]}">{status}</b> {escape(response["description"])}'
        if status >= "400":
            parts.append(f"<li><p>{head}</p></li>")
            continue
        shape = _table("Response", rows_of(document, schema), kind) if schema else ""
        example = _example(document, {"schema": schema}) if schema else ""
        more = f"<details><summary>{head}</summary>{shape}{example}</details>" if shape or example else f"<p>{head}</p>"
        parts.append(f"<li>{more}</li>")
    return f'<h4>Responses</h4><ul class="answers">{"".join(parts)}</ul>'


def _table(title: str, rows: Iterable[tuple[str, str, str, bool, str]], kind: str = "") -> str:
    body = "".join(
        f'<tr><th scope="row"><code>{escape(name)}</code>{"<i>required</i>" if required else ""}</th>'
        f'<td><span class="type">{escape(words)}</span>'
        f"{f'<span class=where>{escape(where)}</span>' if where else ''}{prose(text)}</td></tr>"
        for name, where, words, required, text in rows
    )
    if not body:
        return ""
    media_type = f" <span>{escape(kind)}</span>" if kind and kind != "application/json" else ""
    return f"<h4>{title}{media_type}</h4><table><tbody>{body}</tbody></table>"


def _example(document: dict[str, Any], content: dict[str, Any]) -> str:
    found = example_of(document, content)
    if found is None:
        return ""
    return f"<details><summary>Example</summary>{_code(_json(found))}</details>"


def example_of(document: dict[str, Any], content: dict[str, Any]) -> Any:
    """Return the example of a content: its own, or its schema's."""
    if "example" in content:
        return content["example"]
    schema = content.get("schema", {})
    schema = _resolved(document, next(iter(schema.get("anyOf", [])), schema))
    return next(iter(schema.get("examples", [])), None)


def curl(document: dict[str, Any], path: str, method: str, entry: dict[str, Any], origin: str) -> str:
    """Return the operation as a shell command."""
    address = origin + re.sub(r"\{(\w+)\}", lambda found: f"${found[1].upper()}", path)
    parts = [f'curl -X {METHOD_WORDS[method]} "{address}"']
    choices = [set(needed) for needed in entry["security"]]
    chosen = {"apiKey"} if {"apiKey"} in choices else next(iter(choices), set())
    parts += [header for name, header in CREDENTIALS.items() if name in chosen]
    for kind, content in entry.get("requestBody", {}).get("content", {}).items():
        sent = example_of(document, content)
        if isinstance(sent, dict):
            parts += [f'-H "Content-Type: {kind}"', "-d '" + _json(sent).replace("'", "'\\''") + "'"]
    return " \\\n  ".join(parts)


def _scopes(document: dict[str, Any]) -> str:
    schema = document["components"]["schemas"].get("Scope", {})
    listed = "".join(f"<li><code>{escape(s)}</code></li>" for s in schema.get("enum", []))
    return f'<section><h2 id="scopes">Scopes</h2><ul class="scopes">{listed}</ul></section>' if listed else ""


def prose(text: str) -> str:
    """Return paragraphs, with the two marks that descriptions use: `code` and **strong**."""
    marked = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text.strip(), quote=False))
    marked = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", marked)
    return "".join(f"<p>{part}</p>" for part in re.split(r"\n\s*\n", marked) if part.strip())


def _path(path: str) -> str:
    parts = [f"<em>{p}</em>" if p.startswith("{") else p for p in escape(path).split("/")]
    return "/<wbr>".join(parts).replace("/<wbr>", "/", 1)


def _resolved(document: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in part:
        return part
    _, _, kind, name = part["$ref"].split("/")
    return dict(document["components"][kind][name])


def _code(text: str) -> str:
    return f'<pre tabindex="0"><code>{escape(text)}</code></pre>'


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def _slug(name: str) -> str:
    return "chapter-" + re.sub(r"\W+", "-", name.lower())
