"""Which part of a variable does a name in an expression reach: `user.address.city[0]`?

A chain starts at a free name and goes on through members whose keys are written down. It ends
before a called method, before a computed key, and where the value is used as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from saywhy.expr.scopes import Item, decoded
from saywhy.expr.syntax import Source

Path: TypeAlias = tuple[str | int, ...]
"""Root name first: `("user", "name")`, `("items", 0)`."""


MAX_PARTS: Final = 50
"""Parts of a path that are told one by one. Looking up each beginning of a longer one is slow."""


@dataclass(frozen=True, slots=True)
class Chain:
    """One use of a free name, with the longest path that is known from the text."""

    path: Path
    spans: tuple[tuple[int, int], ...]
    """Where each prefix of the path stands: `spans[0]` is the name, the last one all of it."""
    is_dynamic: bool
    """A computed key follows: what is read may be any part of the value at `path`."""
    is_called: bool
    """The name itself is called: `f(x)`."""
    is_written: bool
    """The chain is a target: assigned, updated, deleted, or only the way to such a member."""
    item: Item
    """The name."""
    end: Item
    """The node that has the value at `path`."""

    @property
    def root(self) -> str:
        """The free name."""
        return str(self.path[0])


def chain_at(name: str, item: Item, source: Source) -> Chain:
    """The chain that starts at the name in `item`."""
    path: list[str | int] = [name]
    spans = [source.span(item.node)]
    here = item
    is_dynamic = False
    while is_link(here):
        link = here.parent
        assert link is not None
        key = static_key(link, source)
        if key is None:
            is_dynamic = True
            break
        if is_callee(link):
            break
        if len(path) == MAX_PARTS:
            return _cut(path, spans, item, here)
        path.append(key)
        spans.append(source.span(link.node))
        here = link
    return Chain(
        path=tuple(path),
        spans=tuple(spans),
        is_dynamic=is_dynamic,
        is_called=here is item and is_callee(item),
        is_written=is_target(here) or (is_dynamic and is_target(here.parent)),
        item=item,
        end=here,
    )


def _cut(path: list[str | int], spans: list[tuple[int, int]], item: Item, end: Item) -> Chain:
    """A chain that goes on after so many parts: what follows may be any part of the value."""
    last = end
    while is_link(last) and last.parent is not None:
        last = last.parent
    return Chain(tuple(path), tuple(spans), True, False, is_target(last), item, end)


def is_link(item: Item) -> bool:
    """Whether a member of `item` is taken: `item.x` or `item[x]`."""
    return (
        item.parent is not None
        and item.field == "object"
        and item.parent.kind in ("member_expression", "subscript_expression")
    )


def is_callee(item: Item) -> bool:
    """Whether `item` is what a call or a tagged template calls."""
    return (
        item.parent is not None
        and item.parent.kind == "call_expression"
        and (item.field == "function")
    )


def is_target(item: Item | None) -> bool:
    """Whether `item` is assigned, updated or deleted."""
    return item is not None and item.mode in ("assign", "update", "delete")


def static_key(link: Item, source: Source) -> str | int | None:
    """The key of a member where it is written down; None where it is computed."""
    if link.kind == "member_expression":
        node = link.node.child_by_field_name("property")
        if node is None or node.type != "property_identifier":
            return None
        return decoded(source.spelling(node))
    node = link.node.child_by_field_name("index")
    reader = _KEY_READERS.get(node.type) if node is not None else None
    return reader(source.spelling(node)) if reader and node is not None else None


def _text_key(spelling: str) -> str | None:
    inner = spelling[1:-1]
    return inner if "\\" not in inner and "${" not in inner else None


def _number_key(spelling: str) -> int | None:
    return int(spelling) if re.fullmatch(r"0|[1-9]\d{0,8}", spelling) else None


_KEY_READERS: Final[dict[str, Callable[[str], str | int | None]]] = {
    "string": _text_key,
    "template_string": _text_key,
    "number": _number_key,
}
