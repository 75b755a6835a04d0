"""The body of a request to a chat-completions server, from what is known of the model.

Servers of this kind differ in what they take: under which name the length of the reply is capped,
whether sampling may be set, whether they know JSON schemas. A model is described once, and every
call of the engine becomes a body that this model accepts. Sending it is left to the host.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from saywhy.errors import CallerError, did_you_mean
from saywhy.host.schemas import DETECT_FLOW, parse_schema_arg, schema_name

_SAMPLING: Final = {
    "temperature": 0,
    "seed": 1024,
    "top_p": 1e-6,
    "n": 1,
    "frequency_penalty": 0,
    "presence_penalty": 0,
}
"""As repeatable as a server can be. Some refuse a `top_p` of 0, so it is nearly 0."""


class AiModel(msgspec.Struct, frozen=True, kw_only=True):
    """What has to be known of a model to write a request to it."""

    name: str
    reserved_reply_size: int
    """So many tokens the reply may have."""
    token_param: str = "max_tokens"
    """The key under which the server takes that number."""
    supports_schema: bool = False
    """Whether the server holds a reply to a JSON schema."""
    fixed_sampling: bool = False
    """Whether the server refuses temperature and the like."""
    extra_params: Mapping[str, Any] = {}
    """Further keys of the body; they win over ours, and None takes a key away."""


_KEYS: Final = {
    "name": "name",
    "reservedReplySize": "reserved_reply_size",
    "tokenParam": "token_param",
    "supportsSchema": "supports_schema",
    "fixedSampling": "fixed_sampling",
    "extraParams": "extra_params",
}


def build_ai_request(
    model: AiModel | Mapping[str, Any],
    system_instruction: str,
    user_message: str,
    json_schema: str | None = None,
) -> dict[str, Any]:
    """The body for one call of the engine; `model` may be a dict with the fields of `AiModel`.

    `response_format` is absent for a schema that no server can enforce (none at all, no JSON, the
    single detection call) and never None.
    """
    known = model if isinstance(model, AiModel) else _described(model)
    body: dict[str, Any] = {
        "model": known.name,
        "messages": [
            {"role": "system", "content": system_instruction},
            {"role": "user", "content": user_message},
        ],
        known.token_param: known.reserved_reply_size,
        "stream": False,
    }
    if not known.fixed_sampling:
        body |= _SAMPLING
    if form := _response_format(known, json_schema):
        body["response_format"] = form
    for key, value in known.extra_params.items():
        if value is None:
            body.pop(key, None)
        else:
            body[key] = value
    return body


def _response_format(model: AiModel, schema: str | None) -> dict[str, Any] | None:
    found = parse_schema_arg(schema)
    if found is None or schema_name(found) == DETECT_FLOW:
        return None
    is_wrapped = found.get("type") == "json_schema" and "json_schema" in found
    return found if model.supports_schema and is_wrapped else {"type": "json_object"}


def _described(model: Mapping[str, Any]) -> AiModel:
    fields: dict[str, Any] = {}
    for key, value in model.items():
        name = _KEYS.get(key, key)
        if name not in _KEYS.values():
            raise CallerError(
                f'a model has no field "{key}"',
                hint=did_you_mean(name, list(_KEYS.values()))
                or f"there are {', '.join(_KEYS.values())}",
            )
        fields[name] = value
    for name in ("name", "reserved_reply_size"):
        if name not in fields:
            raise CallerError(f"a model needs `{name}`", hint="see AiModel in saywhy.host")
    try:
        return msgspec.convert(fields, AiModel)
    except msgspec.ValidationError as error:
        raise CallerError(f"a model is described wrongly: {error}") from error
