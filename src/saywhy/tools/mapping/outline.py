"""A mapping in a few words, for the record: which field of the result comes from where.

Only what can be told by names is told; a record is no copy of the configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from saywhy.values import raw

MOST_FIELDS: Final = 12
LONGEST: Final = 60
_INSIDE: Final = ("mappings", "mapping", "itemMapping", "fields")


def outline(config: Any) -> dict[str, str]:
    """Field → where it is taken from, of the first fields; under "" the source of the whole."""
    found: dict[str, str] = {}
    _add(found, "", raw(config))
    return found


def _add(found: dict[str, str], name: str, config: Any) -> None:
    if len(found) >= MOST_FIELDS:
        return
    if isinstance(config, str):
        found[name] = config[:LONGEST]
        return
    if not isinstance(config, Mapping):
        return
    source = config.get("path") or config.get("source")
    if isinstance(source, str):
        found[name] = source[:LONGEST]
    for key in _INSIDE:
        inside = raw(config.get(key))
        if isinstance(inside, Mapping) and "type" not in inside:
            for field, each in inside.items():
                _add(found, f"{name}.{field}".lstrip("."), raw(each))
