"""Figures as values: JSON with the fields that say nothing left out."""

from __future__ import annotations

from typing import Any

import msgspec

from saywhy.values import thaw


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Some figures of a recorder, as they were when they were asked for."""

    def to_value(self) -> dict[str, Any]:
        """The figures as JSON; what is None is left out."""
        return _without_none(msgspec.to_builtins(self, enc_hook=thaw))


def _without_none(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {name: _without_none(value) for name, value in tree.items() if value is not None}
    return [_without_none(one) for one in tree] if isinstance(tree, list | tuple) else tree
