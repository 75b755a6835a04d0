"""What a tool answered, as a value that a conversation can hold.

Plain values pass as they are. Objects whose meaning as data is beyond doubt are converted, without
loss: pydantic models, dataclasses and msgspec structs become objects, an enum its value, a UUID
text, a `date` or `time` ISO text, a `Decimal` text with all its digits (a number would lose some,
and money must not). All else is refused with its place: a set has no order, bytes no alphabet, and
an object of a class would come back as something else after the conversation was stored.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import sys
import uuid
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from saywhy.errors import StateValueError
from saywhy.values import MAX_DEPTH, Key, freeze

_WHERE: Final = ("the answer",)


def as_value(result: Any) -> Any:
    """`result` frozen. Raises `StateValueError` naming the place of what cannot be held."""
    try:
        return freeze(result)
    except StateValueError:
        return freeze(_convert(result, _WHERE, 0), _WHERE)


def _convert(value: Any, where: Key, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise StateValueError(where, f"is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, enum.Enum):
        return _convert(value.value, where, depth + 1)
    if isinstance(value, Mapping):
        return {key: _convert(item, (*where, key), depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_convert(item, (*where, i), depth + 1) for i, item in enumerate(value)]
    fields = _fields_of(value)
    if fields is not None:
        return _convert(fields, where, depth + 1)
    return _text_of(value)


def _fields_of(value: Any) -> dict[str, Any] | None:
    """An object of a class as a dict of its fields; None for other things."""
    if isinstance(value, type):
        return None
    if isinstance(value, msgspec.Struct):
        return _struct_fields(value)
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    pydantic = sys.modules.get("pydantic")  # not loaded: then no object can be one of its models
    if pydantic is not None and isinstance(value, pydantic.BaseModel):
        return value.model_dump(mode="json")
    return None


def _struct_fields(value: msgspec.Struct) -> dict[str, Any]:
    """The fields under the names they have in JSON, with the tag that tells a union's members."""
    config = value.__struct_config__
    tag = {str(config.tag_field): config.tag} if config.tag is not None else {}
    fields = msgspec.structs.fields(type(value))
    return tag | {field.encode_name: getattr(value, field.name) for field in fields}


def _text_of(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return value
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, decimal.Decimal | uuid.UUID):
        return str(value)
    return value
