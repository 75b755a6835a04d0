"""Parameters and body of an OpenAPI operation as the arguments of one tool. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from saywhy.tools.http.address import placeholders_in
from saywhy.tools.http.body import FORM, JSON, MULTIPART, is_text, media_type
from saywhy.tools.openapi.document import Api
from saywhy.tools.openapi.names import variable_name
from saywhy.tools.openapi.schemas import merged_object, schema_of

FILE_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "filename": {"type": "string"},
        "contentType": {"type": "string"},
        "content": {"type": "string"},
        "base64": {"type": "string"},
    },
    "required": ["filename"],
}
"""How a file is given to a tool."""
_PREFERRED: Final = (JSON, FORM, MULTIPART)
_OWN_HEADERS: Final = frozenset({"accept", "content-type", "authorization"})
_IDEMPOTENCY: Final = frozenset({"idempotency-key", "x-idempotency-key"})


def add_arguments(
    api: Api, item: Mapping[str, Any], operation: Mapping[str, Any], tool: dict[str, Any]
) -> bool:
    """Put what the operation takes into the tool. False where no tool can give it."""
    properties: dict[str, Any] = {}
    required: list[str] = []
    closed = True
    names: dict[str, list[str]] = {"path": [], "query": []}
    for parameter in _parameters(api, item, operation):
        where, name = str(parameter.get("in")), str(parameter.get("name") or "")
        if where not in names:
            _elsewhere(api, parameter, where, name, tool)
            continue
        names[where].append(name)
        properties[name] = _parameter_schema(api, parameter)
        if parameter.get("required") is True or where == "path":
            required.append(name)
        _style(api, parameter, name, properties[name], tool)
    for where, listed in names.items():
        if listed:
            tool["implementation"][f"{where}Params"] = listed
    body = operation.get("requestBody")
    if body is not None:
        made = _body(api, api.object_at(body), tool)
        if made is None:
            return False
        for clash in sorted(made["properties"].keys() & properties.keys()):
            api.note(f"{clash} is in the body and in the address; it goes to the address only")
        closed = made.get("additionalProperties") is False
        properties = made["properties"] | properties
        required += [name for name in made["required"] if name not in required]
    for name in placeholders_in(tool["implementation"]["url"]):
        if name not in properties:
            api.note(f"{name} stands in the address and is not described; any text passes")
            properties[name] = {"type": "string"}
            required.append(name)
    parameters: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        parameters["required"] = required
    if closed:
        parameters["additionalProperties"] = False
    tool["parameters"] = parameters
    return True


def _parameters(
    api: Api, item: Mapping[str, Any], operation: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    """Those of the path, then those of the operation, which win."""
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for holder in (item, operation):
        given = holder.get("parameters")
        for raw in given if isinstance(given, list) else ():
            parameter = api.object_at(raw)
            if parameter:
                found[str(parameter.get("in")), str(parameter.get("name"))] = parameter
    return list(found.values())


def _parameter_schema(api: Api, parameter: Mapping[str, Any]) -> dict[str, Any]:
    raw = parameter.get("schema")
    if raw is None:
        content = api.object_at(parameter.get("content"))
        raw = api.object_at(next(iter(content.values()), None)).get("schema")
    schema = schema_of(api, raw, "request") if raw is not None else {}
    if isinstance(parameter.get("description"), str) and "description" not in schema:
        schema["description"] = parameter["description"].strip()
    return schema


def _style(
    api: Api, parameter: Mapping[str, Any], name: str, schema: Mapping[str, Any], tool: Any
) -> None:
    """How lists and objects are written in the address."""
    kinds = schema.get("type")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    style = str(parameter.get("style") or "")
    if "object" in kinds and "content" not in parameter:
        api.note(f"{name} is an object; it is written into the address as JSON")
    if "array" not in kinds or parameter.get("in") != "query":
        return
    implementation = tool["implementation"]
    if style in ("", "form"):
        wanted = "comma" if parameter.get("explode") is False else "repeat"
    else:
        wanted = "comma"
        api.note(f"the list {name} is written with commas, not in the style {style}")
    if implementation.get("arrayFormat", wanted) != wanted:
        api.note(f"all lists are written as {implementation['arrayFormat']}, {name} as well")
    else:
        implementation["arrayFormat"] = wanted


def _elsewhere(api: Api, parameter: Mapping[str, Any], where: str, name: str, tool: Any) -> None:
    """A header or a cookie, which no argument can fill."""
    if where != "header":
        api.note(f"the cookie {name} is not sent" if where == "cookie" else f"{name} is unknown")
        return
    if name.lower() in _OWN_HEADERS:
        return
    implementation = tool["implementation"]
    if name.lower() in _IDEMPOTENCY:
        implementation["idempotencyHeader"] = name
        api.note(f"{name} carries the key of the call; is a repeat recognised? then: repeatable")
        return
    schema = schema_of(api, parameter.get("schema"), "request")
    values = schema.get("enum")
    fixed = schema.get("const", schema.get("default"))
    if fixed is None and isinstance(values, list) and len(values) == 1:
        fixed = values[0]
    if fixed is not None:
        implementation.setdefault("headers", {})[name] = fixed
        api.note(f"the header {name} is always {fixed}")
    elif parameter.get("required") is True:
        variable = variable_name(name)
        implementation.setdefault("headers", {})[name] = f"{{{{{variable}}}}}"
        api.note(f"the header {name} is required: give the global variable {variable}")
    else:
        api.note(f"the header {name} is not sent; `headers` may hold it")


# ------------------------------------------------------------------ the body


def _body(api: Api, body: Mapping[str, Any], tool: dict[str, Any]) -> dict[str, Any] | None:
    """The body's arguments as the schema of an object; None where no arguments make such a body."""
    given = api.object_at(body.get("content"))
    content = {str(kind): api.object_at(one) for kind, one in given.items()}
    if not content:
        return {"properties": {}, "required": []}
    kind = _preferred(content)
    if len(content) > 1:
        others = ", ".join(one for one in content if one != kind)
        api.note(f"the body is sent as {kind}; {others} would do as well")
    plain = media_type(kind)
    if plain != JSON:
        tool["implementation"]["contentType"] = kind
    raw = content[kind].get("schema")
    schema = schema_of(api, raw, "request") if raw is not None else {"type": "object"}
    if is_text(plain):
        return _text_body(body, schema)
    if plain not in _PREFERRED and not plain.endswith("+json") and plain != "*/*":
        api.note(f"left out: no tool can send a body of type {kind}")
        return None
    made = merged_object(schema) if schema else {"properties": {}, "required": []}
    if made is None:
        what = schema.get("type")
        api.note(f"left out: the body is {what if isinstance(what, str) else 'no object'}")
        return None
    if schema.get("oneOf") or schema.get("anyOf"):
        api.note("the body has one of several shapes; which properties go together is not checked")
    if plain == MULTIPART:
        _files(api, api.object_at(raw), made, content[kind])
    if body.get("required") is not True:
        made["required"] = []
    return made


def _preferred(content: Mapping[str, Any]) -> str:
    for wanted in _PREFERRED:
        for kind in content:
            if media_type(kind) == wanted:
                return kind
    similar = (kind for kind in content if media_type(kind).endswith("+json"))
    return next(similar, next(iter(content)))


def _text_body(body: Mapping[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Text and XML are given whole, in one argument."""
    kind = schema if schema.get("type") == "string" else {"type": "string"}
    needed = ["body"] if body.get("required") is True else []
    return {"properties": {"body": kind}, "required": needed}


def _files(
    api: Api, raw: Mapping[str, Any], made: dict[str, Any], content: Mapping[str, Any]
) -> None:
    """The parts that are files."""
    encodings = api.object_at(content.get("encoding"))
    for name, schema in made["properties"].items():
        items = schema.get("items") if schema.get("type") == "array" else None
        part = items if isinstance(items, Mapping) else schema
        kind = str(api.object_at(encodings.get(name)).get("contentType") or "")
        binary = part.get("format") in ("binary", "base64") or "contentMediaType" in part
        if binary or kind.startswith(("image/", "application/octet-stream")):
            text = {key: schema[key] for key in ("description",) if key in schema}
            made["properties"][name] = (
                {"type": "array", "items": FILE_SCHEMA, **text} if items else FILE_SCHEMA | text
            )
            api.note(f'{name} is a file: {{"filename": …, "content": … or "base64": …}}')
