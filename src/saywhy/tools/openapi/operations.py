"""The operations of an OpenAPI description as definitions of HTTP tools.

Address, arguments, body, credentials, result and effect of each; what has no counterpart becomes a
note, so that nothing is left out in silence. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from saywhy.errors import CallerError, Place, did_you_mean
from saywhy.tools.effect import EFFECTS
from saywhy.tools.openapi.arguments import add_arguments
from saywhy.tools.openapi.document import Api
from saywhy.tools.openapi.names import tool_id
from saywhy.tools.openapi.schemas import schema_of
from saywhy.tools.openapi.security import add_security
from saywhy.tools.schema import compile_schema, explain

METHODS: Final = ("get", "head", "post", "put", "patch", "delete", "options")
MAX_OPERATIONS: Final = 2_000
LONGEST_TEXT: Final = 2_000
LONGEST_NAME: Final = 80
NO_SERVER: Final = "https://example.invalid"


@dataclass(frozen=True, slots=True)
class Imported:
    """One operation: its definition, None where there can be none, and what to know about it."""

    id: str
    operation: str
    """`POST /charges`"""
    definition: dict[str, Any] | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where an operation stands."""

    path: str
    method: str
    item: Mapping[str, Any]
    operation: Mapping[str, Any]

    @property
    def title(self) -> str:
        return f"{self.method.upper()} {self.path}"

    @property
    def id(self) -> str:
        """Its `operationId`, else method and path as one word."""
        given = self.operation.get("operationId")
        return tool_id(str(given or f"{self.method}_{self.path.strip('/')}")) or self.method


def import_openapi(
    document: Any,
    *,
    only: Collection[str] = (),
    base: str = "",
    place: Place | None = None,
) -> list[Imported]:
    """Every operation as a tool, in the order of the description.

    `only` keeps the operations with one of these ids or tags; `base` is used in place of the
    servers named. Raises `DefinitionError` for what is no OpenAPI description, `CallerError` for a
    name in `only` that nothing has.
    """
    api = Api(document, place)
    spots = list(_spots(api))
    _check_only(only, spots)
    made: list[Imported] = []
    taken: set[str] = set()
    for spot in spots:
        if only and not {spot.id, *_tags(spot)} & set(only):
            continue
        identity = _free(spot.id, taken)
        if identity != spot.id:
            api.note(f"another operation is called {spot.id} as well")
        taken.add(identity)
        definition = _definition(api, spot, identity, base)
        made.append(Imported(identity, spot.title, definition, api.take_notes()))
    return made


def _spots(api: Api) -> Iterator[_Spot]:
    count = 0
    for path, raw in api.root["paths"].items():
        item = api.object_at(raw)
        for method in METHODS:
            operation = item.get(method)
            if isinstance(operation, Mapping) and count < MAX_OPERATIONS:
                count += 1
                yield _Spot(str(path), method, item, operation)


def _tags(spot: _Spot) -> list[str]:
    tags = spot.operation.get("tags")
    return [str(tag) for tag in tags] if isinstance(tags, list) else []


def _check_only(only: Collection[str], spots: list[_Spot]) -> None:
    known = [*(spot.id for spot in spots), *(tag for spot in spots for tag in _tags(spot))]
    for name in only:
        if name not in known:
            some = ", ".join(list(dict.fromkeys(known))[:10])
            hint = did_you_mean(name, known) or f"there are: {some}"
            raise CallerError(f"no operation has the id or tag {name}", hint=hint)


def _free(name: str, taken: set[str]) -> str:
    number = 2
    free = name
    while free in taken:
        free = f"{name}_{number}"
        number += 1
    return free


def _definition(api: Api, spot: _Spot, identity: str, base: str) -> dict[str, Any] | None:
    operation = spot.operation
    implementation: dict[str, Any] = {
        "type": "http",
        "method": spot.method.upper(),
        "url": _url(api, spot, base),
    }
    tool: dict[str, Any] = {
        "id": identity,
        "name": _line(operation.get("summary"))[:LONGEST_NAME] or identity,
        "description": _description(operation),
        "effect": _effect(api, spot),
        "parameters": {},
        "implementation": implementation,
    }
    if not add_arguments(api, spot.item, operation, tool):
        return None
    if not _compiles(api, tool["parameters"], "its arguments are"):
        tool["parameters"]["properties"] = {name: {} for name in tool["parameters"]["properties"]}
    add_security(api, operation, tool)
    returns = _returns(api, operation)
    if returns and _compiles(api, returns, "its result is"):
        tool["returns"] = returns
    if operation.get("deprecated") is True:
        api.note("it is deprecated")
    return tool


def _compiles(api: Api, schema: Mapping[str, Any], what: str) -> bool:
    try:
        compile_schema(schema)
    except ValueError as error:
        api.note(f"what {what} does not compile and is left out: {explain(error)}")
        return False
    return True


def _line(text: Any) -> str:
    return " ".join(text.split()) if isinstance(text, str) else ""


def _description(operation: Mapping[str, Any]) -> str:
    text = operation.get("description") or operation.get("summary") or ""
    return str(text).strip()[:LONGEST_TEXT]


def _effect(api: Api, spot: _Spot) -> str:
    """What the description says under `x-effect`; else only GET and HEAD are known to change
    nothing."""
    given = spot.operation.get("x-effect")
    if given in EFFECTS:
        return str(given)
    if given is not None:
        api.note(f"x-effect is reads, repeatable or once, not {given}")
    return "reads" if spot.method in ("get", "head") else "once"


def _url(api: Api, spot: _Spot, base: str) -> str:
    server = base or _server(api, spot)
    if not server.lower().startswith(("http://", "https://")):
        api.note("no server has a whole address: write it into `url`, or import with --base")
        server = f"{NO_SERVER}/{server.lstrip('/')}"
    return server.rstrip("/") + "/" + spot.path.lstrip("/")


def _server(api: Api, spot: _Spot) -> str:
    for holder in (spot.operation, spot.item, api.root):
        servers = holder.get("servers")
        first = api.object_at(servers[0]) if isinstance(servers, list) and servers else {}
        if isinstance(first.get("url"), str):
            return _filled(api, first)
    return ""


def _filled(api: Api, server: Mapping[str, Any]) -> str:
    """The address with its variables at their defaults."""
    url = str(server["url"]).strip()
    for name, raw in api.object_at(server.get("variables")).items():
        default = str(api.object_at(raw).get("default") or "")
        if f"{{{name}}}" in url:
            url = url.replace(f"{{{name}}}", default)
            api.note(f"{name} in the server's address is {default}, its default")
    return url


def _returns(api: Api, operation: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of the first answer that is a success."""
    responses = api.object_at(operation.get("responses"))
    good = sorted(str(status) for status in responses if str(status).startswith("2"))
    for status in good:
        content = api.object_at(api.object_at(responses[status]).get("content"))
        for kind, raw in content.items():
            plain = str(kind).partition(";")[0].strip().lower()
            schema = api.object_at(raw).get("schema")
            if schema is not None and (plain.endswith(("/json", "+json")) or plain == "*/*"):
                return schema_of(api, schema, "response")
    return {}
