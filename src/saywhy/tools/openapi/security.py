"""How an operation wants to be told who calls, as `authentication` of a tool.

No secret is in a description, so each credential becomes an expression on a global variable, and a
note says which one to give. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from saywhy.tools.openapi.document import Api
from saywhy.tools.openapi.names import variable_name


def add_security(api: Api, operation: Mapping[str, Any], tool: dict[str, Any]) -> None:
    """Put the credentials that the operation needs into the tool."""
    wanted = operation.get("security", api.root.get("security"))
    if not isinstance(wanted, Sequence) or not wanted:
        return
    schemes = api.object_at(api.object_at(api.root.get("components")).get("securitySchemes"))
    choices = [one for one in wanted if isinstance(one, Mapping)]
    best = next((one for one in choices if _can_be_given(api, one, schemes)), None)
    if best is None:
        names = sorted({str(name) for one in choices for name in one})
        api.note(f"no credentials: {', '.join(names)} cannot be expressed")
        return
    blocks = [_block(str(name), api.object_at(schemes.get(name)), api) for name in best]
    holders = (tool["implementation"], tool)
    for holder, block in zip(holders, (one for one in blocks if one), strict=False):
        holder["authentication"] = block


def _can_be_given(api: Api, requirement: Mapping[str, Any], schemes: Mapping[str, Any]) -> bool:
    kinds = [_kind(api.object_at(schemes.get(name))) for name in requirement]
    return len(kinds) <= 2 and all(kinds)


def _kind(scheme: Mapping[str, Any]) -> str:
    """The kind of authentication that serves a scheme; empty for none."""
    kind, word = scheme.get("type"), str(scheme.get("scheme") or "").lower()
    if kind == "http":
        return word if word in ("basic", "bearer") else ""
    if kind == "apiKey":
        return "apikey" if scheme.get("in") in ("header", "query") else ""
    return "bearer" if kind in ("oauth2", "openIdConnect") else ""


def _block(name: str, scheme: Mapping[str, Any], api: Api) -> dict[str, Any]:
    kind = _kind(scheme)
    variable = variable_name(name)
    if kind == "basic":
        _tell(api, f"{variable}_user", f"{variable}_password")
        return {
            "type": "basic",
            "username": f"{{{{{variable}_user}}}}",
            "password": f"{{{{{variable}_password}}}}",
        }
    _tell(api, variable)
    if kind == "apikey":
        return {
            "type": "apikey",
            "location": scheme["in"],
            "name": str(scheme.get("name") or ""),
            "value": f"{{{{{variable}}}}}",
        }
    if scheme.get("type") != "http":
        api.note(f"{name}: an access token is sent; getting and renewing it is up to you")
    return {"type": "bearer", "token": f"{{{{{variable}}}}}"}


def _tell(api: Api, *variables: str) -> None:
    names = " and ".join(variables)
    api.note(f"credentials: give the global variable{'s' if len(variables) > 1 else ''} {names}")
