"""Source code of an operation's method; the formatter handles its layout."""

import textwrap

from backend.openapi.methods.operation import Described, Parameter

WIDTH = 105
"""Width of a docstring: 120 characters without indentation and quotes."""
NO_ANSWER = "None"


def method(operation: Described) -> str:
    """Return a method with its docstring; two overloads where a dry run has a different response."""
    call = f"        {_returned(operation)}\n"
    body = f'        """{_words(operation.text)}"""\n{call}'
    if not operation.rehearses:
        return _signature(operation, _kind(operation)) + "\n" + body
    kind = _real(operation)
    return "\n\n".join(
        [
            "    @overload\n" + _signature(operation, str(operation.plan), "dry_run: Literal[True]") + " ...",
            "    @overload\n" + _signature(operation, kind, "dry_run: Literal[False] = False") + " ...",
            _signature(operation, _either(operation, kind), "dry_run: bool = False") + "\n" + body,
        ]
    )


def _either(operation: Described, kind: str) -> str:
    kinds = [*kind.split(" | "), str(operation.plan)]
    return " | ".join(sorted(kinds, key=lambda one: one == NO_ANSWER))


def _signature(operation: Described, kind: str, *more: str) -> str:
    first = ["self", *(f"{p.name}: {p.kind}" for p in operation.path_parameters)]
    named = [*(_named(p) for p in sorted(operation.query, key=lambda p: not p.is_required)), *more]
    if operation.is_keyed:
        named.append("idempotency_key: str | None = None")
    if operation.takes_version:
        named.append("if_match: str | None = None")
    if _streams(operation):
        named.append("last_event_id: str | None = None")
    if operation.body is not None:
        first.append(_body(operation))
    parameters = ", ".join(first + (["*", *named] if named else []))
    waits = "" if operation.items or kind == "Download" or _streams(operation) else "async "
    return f"    {waits}def {operation.id}({parameters}) -> {kind}:"


def _streams(operation: Described) -> bool:
    return _real(operation).startswith("Events[")


def _named(parameter: Parameter) -> str:
    return f"{parameter.name}: {parameter.kind}" + ("" if parameter.is_required else " | None = None")


def _body(operation: Described) -> str:
    assert operation.body is not None
    kinds = [k for k in (operation.body.record, "Content" if operation.body.takes_content else None) if k]
    return f"body: {' | '.join(kinds)}" + (" | None = None" if operation.body.is_optional else "")


def _kind(operation: Described) -> str:
    if operation.items:
        return f"Pages[{operation.answers[200]}, {operation.items[1]}]"
    return _real(operation).replace("Location", "str")


def _real(operation: Described) -> str:
    return " | ".join(dict.fromkeys(operation.answers.values()))


def _returned(operation: Described) -> str:
    where, kind = _path(operation), _real(operation)
    query = f", query={_query(operation)}" if operation.query or operation.rehearses else ""
    if operation.items:
        return f'return self._pages({operation.answers[200]}, "{operation.items[0]}", {where}, {_query(operation)})'
    if kind == "Download":
        return f"return self._download({where}{query})"
    if _streams(operation):
        return f"return self._events({kind[len('Events[') : -1]}, {where}, last_event_id)"
    verb = f'"{operation.verb}", {where}{query}'
    if kind == "Location":
        return f"return await self._where({verb})"
    rest = _sent(operation) + (", key=idempotency_key or self._new_key()" if operation.is_keyed else "")
    rest += ", if_match=if_match" if operation.takes_version else ""
    if len(set(operation.answers.values())) > 1:
        return f"return await self._send_by_status({{{_kinds(operation)}}}, {verb}{rest})"
    if kind == NO_ANSWER:
        does = f"await self._do({verb}{rest})"
        plan = f"return await self._send({operation.plan}, {verb}{rest})"
        return f"if dry_run:\n            {plan}\n        {does}\n        return None" if operation.rehearses else does
    kind = "dict" if kind.startswith("dict") else kind
    kind = f"{operation.plan} if dry_run else {kind}" if operation.rehearses else kind
    return f"return await self._send({kind}, {verb}{rest})"


def _kinds(operation: Described) -> str:
    """Return the type of the response by status, including the plan of a dry run (200)."""
    by_status = {status: "type(None)" if kind == NO_ANSWER else kind for status, kind in operation.answers.items()}
    if operation.rehearses:
        by_status[200] = (
            f"{operation.plan} if dry_run else {by_status[200]}" if 200 in by_status else str(operation.plan)
        )
    return ", ".join(f"{status}: {kind}" for status, kind in sorted(by_status.items()))


def _sent(operation: Described) -> str:
    if operation.body is None:
        return ""
    return ", body=form(body)" if operation.body.is_form else ", body=body"


def _query(operation: Described) -> str:
    names = {p.wire: p.name for p in operation.query} | ({"dry_run": "dry_run or None"} if operation.rehearses else {})
    return "{" + ", ".join(f'"{wire}": {name}' for wire, name in names.items()) + "}"


def _path(operation: Described) -> str:
    template = operation.path
    for parameter in operation.path_parameters:
        template = template.replace("{" + parameter.wire + "}", "{}")
    names = ", ".join(p.name for p in operation.path_parameters)
    return f'path("{template}", {names})' if names else f'"{template}"'


def _words(text: str) -> str:
    """Return the document's text in lines that fit."""
    clean = text.strip().replace("\\", "\\\\").replace('"""', "'''")
    wrapped = ["\n".join(textwrap.wrap(p, WIDTH, break_long_words=False)) for p in clean.split("\n\n")]
    words = textwrap.indent("\n\n".join(wrapped), " " * 8).strip()
    words += " " if words.endswith('"') else ""
    return words if "\n" not in words else words + "\n        "
