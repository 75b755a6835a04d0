"""Whether a step run again is the step on record: the first field in which they differ.

Compared is everything a commit holds. In place of a mark anything may stand; what stands beside it
is compared. Left out are what was cut, wherever it stands in the record, and the tag that says that
texts were stored elsewhere; the time of a step is taken from the record, so it cannot differ. On
other flows the versions of charts are left out, and a step that stands elsewhere in its file counts
as the same where it says the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from saywhy.chart.commit import Commit
from saywhy.chart.model import Chart, Charts, Node
from saywhy.trace.masking.redact import CUT, CUT_TAG, MARK, REDACTED_TAG
from saywhy.trace.record import encode
from saywhy.trace.shorten import SHORTENED_TAG
from saywhy.values import dumps, loads_raw

_PLACE: Final = re.compile(r" at \S+:\d+:\d+")
ABSENT: Final = "(nothing)"
_TAGS: Final = frozenset({SHORTENED_TAG, CUT_TAG, REDACTED_TAG})
_FIRST: Final = ("flow", "kind", "node", "phase", "answered", "decision", "ops", "asked", "to")
"""Fields that say most about a difference are looked at first."""
_LATER: Final = ("phrases",)
"""Facts that older records do not have. What was said is compared all the same."""
_DIGESTS: Final = frozenset({"digest", "chart"})


class Differs(msgspec.Struct, frozen=True):
    """One difference: the field as a path, and both values."""

    field: str
    recorded: Any
    now: Any


class Comparison:
    """Compares commits, and counts the masked places that were passed over."""

    def __init__(self, recorded: Charts, now: Charts | None = None) -> None:
        self.passed_over = 0
        self._recorded = recorded
        self._now = now
        """Other flows; None: the very charts on record."""

    def first(self, recorded: Commit, now: Commit) -> Differs | None:
        """The first difference; None where they are the same."""
        if self._now is None and encode(recorded) == encode(now):
            return None
        one, other = self._tree(recorded, self._recorded), self._tree(now, self._now)
        _forget_later(one, other)
        names = [*_FIRST, *(name for name in {**one, **other} if name not in _FIRST)]
        for name in names:
            found = self._in(_of(one, name), _of(other, name), name)
            if found is not None:
                return found
        return None

    def _tree(self, commit: Commit, charts: Charts | None) -> dict[str, Any]:
        tree: dict[str, Any] = loads_raw(encode(commit))
        tree.pop("secrets", None)
        tags = [tag for tag in commit.tags if tag not in _TAGS]
        tree.pop("tags", None)
        if tags:
            tree["tags"] = tags
        if self._now is not None and charts is not None:
            _unversioned(tree, charts.version(commit.chart))
            tree |= {name: _placeless(tree[name]) for name in ("warnings", "facts") if name in tree}
        return tree

    def _in(self, one: Any, other: Any, path: str) -> Differs | None:
        if one == other:
            return None
        if isinstance(one, str) and (CUT in one or (MARK in one and _fits(one, other))):
            self.passed_over += 1
            return None
        if isinstance(one, dict) and isinstance(other, dict):
            return self._first_of(self._fields(one, other, path))
        if isinstance(one, list) and isinstance(other, list):
            return self._first_of(self._items(one, other, path))
        return Differs(path, one, other)

    def _fields(
        self, one: dict[str, Any], other: dict[str, Any], path: str
    ) -> Iterator[Differs | None]:
        for name in {**one, **other}:
            if self._now is not None and name in _DIGESTS:
                continue
            found = self._in(_of(one, name), _of(other, name), f"{path}.{name}")
            if found is not None:
                yield found

    def _items(self, one: Sequence[Any], other: Sequence[Any], path: str) -> Iterator[Differs]:
        for place in range(max(len(one), len(other))):
            left = one[place] if place < len(one) else ABSENT
            right = other[place] if place < len(other) else ABSENT
            found = self._in(left, right, f"{path}[{place}]")
            if found is not None:
                yield found

    def _first_of(self, found: Iterator[Differs | None]) -> Differs | None:
        return next((one for one in found if one is not None), None)


def _fits(one: str, other: Any) -> bool:
    """Whether two texts may be one: where either has a mark anything may stand in the other."""
    if one == MARK or not isinstance(other, str):
        return True
    return _is_of_form(other, one) or _is_of_form(one, other)


def _is_of_form(text: str, masked: str) -> bool:
    """Whether a text is a masked one with something in place of each mark."""
    first, *between = masked.split(MARK)
    if not between or not text.startswith(first):
        return False
    at, last = len(first), between.pop()
    for part in between:
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return len(text) - len(last) >= at and text.endswith(last)


def _forget_later(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Leave out what a record of that time could not say."""
    facts = other.get("facts")
    if not isinstance(facts, dict):
        return
    told = one.get("facts") or ()
    kept = {
        name: fact
        for name, fact in facts.items()  # pyright: ignore[reportUnknownVariableType] - JSON
        if name in told or name not in _LATER
    }
    if kept:
        other["facts"] = kept
    else:
        del other["facts"]


_USUAL: Final = {"effect": "once", "error_name": "Error", "phase": "enter"}
"""What a field says that is left out."""


def _of(tree: dict[str, Any], name: str) -> Any:
    return tree.get(name, _USUAL.get(name, ABSENT))


# ------------------------------------------------------------------ other flows


def _unversioned(tree: dict[str, Any], chart: Chart | None) -> None:
    """Steps named by what they are, in place of where they stand in one version of a file."""
    tree.pop("chart", None)
    if chart is None:
        return
    for name in ("node", "to"):
        node = chart.nodes.get(tree.get(name) or "")
        if node is not None:
            tree[name] = label_of(node)


def _placeless(value: Any) -> Any:
    """Sentences without the places in files that they name."""
    if isinstance(value, str):
        return _PLACE.sub("", value)
    if isinstance(value, list):
        return [_placeless(item) for item in value]
    if isinstance(value, dict):
        return {name: _placeless(item) for name, item in value.items()}
    return value


def label_of(node: Node) -> str:
    """A step by its author's id, else by what it says."""
    if node.name and node.name != node.id:
        return node.name
    return f"{node.kind} {dumps(spec_of(node)).decode()}"


def spec_of(node: Node) -> dict[str, Any]:
    """What the author wrote of a step, without where other steps stand."""
    return {name: value for name, value in node.spec.items() if name not in _PLACES}


_PLACES: Final = frozenset(
    {"branches", "onFail", "onUnknown", "onDecline", "onSilence", "submit", "fallbacks", "form"}
)


__all__ = ["ABSENT", "Comparison", "Differs", "label_of", "spec_of"]
