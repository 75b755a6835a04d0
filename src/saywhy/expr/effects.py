"""What inside which variables may an expression change?

An upper bound from the text alone: member assignment, `++`, `delete`, methods that change their
list or date, `Object.assign` and its kin, objects handed to functions that are not JavaScript's
own. Where a change goes through a local name, any variable may be behind it. Whether anything did
change is found out by comparing, in `javascript`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from saywhy.expr.chains import Chain, Path, static_key
from saywhy.expr.methods import (
    FRESH,
    HOLDERS,
    MUTATORS,
    OBJECT_MUTATORS,
    RETURNS_ITSELF,
    TAKES_CALLBACK,
    TAKES_IN,
)
from saywhy.expr.scopes import PATTERNS, Item, Walk, decoded
from saywhy.expr.words import JAVASCRIPT_GLOBALS

Owners: TypeAlias = frozenset[Path] | None
"""Paths whose value may be changed; None where any variable may be meant."""

NOBODY: Final[frozenset[Path]] = frozenset()
MAX_NESTING: Final = 60
"""How deep an operand is followed before we say: any variable."""


class Effects:
    """The writes of one expression."""

    def __init__(self, walk: Walk, chains: Iterable[Chain]) -> None:
        self._walk = walk
        self._free_roots: set[str] = set()
        self._chain_ends: set[int] = set()
        for chain in chains:
            if chain.root in JAVASCRIPT_GLOBALS:
                continue
            if not chain.is_called:
                self._free_roots.add(chain.root)
            self._chain_ends.update(_nodes_of(chain))

    def writes(self) -> tuple[Path, ...]:
        """The paths that may be changed, without repetition."""
        sites = [*self._member_writes(), *self._call_writes(), *self._loose_methods()]
        found: dict[Path, None] = {}
        for owners in sites:
            found.update(dict.fromkeys(sorted(self._known(owners), key=str)))
        if found and None not in sites:
            self._follow_stores(found, sites)
        return tuple(found)

    def _known(self, owners: Owners) -> Iterable[Path]:
        return ((root,) for root in self._free_roots) if owners is None else owners

    def _follow_stores(self, found: dict[Path, None], sites: Iterable[Owners]) -> None:
        """What was put into a variable may be changed through it: `a.x = b, a.x.y = 1`."""
        waiting = list(self._stores())
        written = Counter(root for owners in sites for root in {path[0] for path in owners or ()})
        written.update(name for name, _ in self._assigned())
        while ready := [store for store in waiting if written[store[0][0]] > 1]:
            waiting = [store for store in waiting if store not in ready]
            for _, owners in ready:
                paths = sorted(self._known(owners), key=str)
                found.update(dict.fromkeys(paths))
                written.update({path[0] for path in paths})

    def _stores(self) -> Iterator[tuple[Path, Owners]]:
        """Where a value may be put into a variable, and whose value that may be."""
        for member in self._walk.members:
            target = member.child("object")
            if target is not None and member.mode != "delete":
                yield from self._into(self._owners(target, fresh=True), _stored(member))
        for name, item in self._assigned():
            yield from self._into(frozenset({(name,)}), _stored(item))
        for call in self._walk.calls:
            callee = call.child("function")
            target = callee.child("object") if callee else None
            if callee is None or target is None:
                continue
            method = static_key(callee, self._walk.source)
            arguments = _arguments(call)
            if method in TAKES_IN:
                yield from self._into(self._owners(target, fresh=True), arguments)
            elif method in OBJECT_MUTATORS:
                yield from self._into(self._of_first(arguments), arguments[1:])

    def _assigned(self) -> Iterator[tuple[str, Item]]:
        for name, item in self._walk.names:
            if item.mode in ("assign", "update") and not item.scope.knows(name):
                yield name, item

    def _into(self, targets: Owners, values: list[Item]) -> Iterator[tuple[Path, Owners]]:
        owners = self._of_all(values, fresh=False)
        if owners is None or owners:
            yield from ((path, owners) for path in targets or ())

    def _member_writes(self) -> Iterator[Owners]:
        for member in self._walk.members:
            target = member.child("object")
            owners = self._owners(target, fresh=True) if target else None
            key = static_key(member, self._walk.source)
            if owners and len(owners) == 1 and key is not None and self._is_direct(member):
                (path,) = owners
                yield frozenset({(*path, key)})
            else:
                yield owners

    def _is_direct(self, member: Item) -> bool:
        """Whether the written member is one link further than a chain from a free name."""
        node = member.node.child_by_field_name("object")
        return node is not None and node.id in self._chain_ends

    def _call_writes(self) -> Iterator[Owners]:
        for call in self._walk.calls:
            if call.kind == "new_expression":
                continue
            callee = _inside_parentheses(call.child("function"))
            if callee is None:
                continue
            if callee.kind in ("member_expression", "subscript_expression"):
                yield from self._method_writes(call, callee)
            elif callee.kind == "identifier":
                name = decoded(self._walk.source.spelling(callee.node))
                if not callee.scope.knows(name) and name not in JAVASCRIPT_GLOBALS:
                    yield self._of_all(_arguments(call), fresh=False)
            elif callee.kind not in _FUNCTIONS:
                yield self._of_all(_arguments(call), fresh=False)

    def _method_writes(self, call: Item, callee: Item) -> Iterator[Owners]:
        method = static_key(callee, self._walk.source)
        target = callee.child("object")
        if target is None:
            return
        if method is None or method in MUTATORS:
            yield self._owners(target, fresh=True)
        if method in ("call", "apply", "bind"):
            yield from self._borrowed_writes(call, target)
        elif method in OBJECT_MUTATORS:
            yield self._of_first(_arguments(call))
        elif method is None or isinstance(method, int):
            yield self._of_all(_arguments(call), fresh=False)
        elif method in TAKES_CALLBACK:
            arguments = _arguments(call)
            callbacks = arguments[1:2] if method == "from" else arguments[:1]
            if any(map(self._is_free_name, callbacks)):
                # `items.map(f)`: f may be a function of the host, which is handed the items.
                handed = arguments[:1] if method == "from" else [target]
                yield self._of_all(handed, fresh=False)

    def _is_free_name(self, item: Item) -> bool:
        if item.kind != "identifier":
            return False
        name = decoded(self._walk.source.spelling(item.node))
        return name not in JAVASCRIPT_GLOBALS and not item.scope.knows(name)

    def _borrowed_writes(self, call: Item, function: Item) -> Iterator[Owners]:
        """`Array.prototype.push.call(xs, 1)` and whatever else is called that way."""
        name = None
        if function.kind == "member_expression":
            name = static_key(function, self._walk.source)
        if self._global_root(function) is not None and name not in MUTATORS | OBJECT_MUTATORS:
            return
        yield self._of_all(_arguments(call), fresh=False)

    def _loose_methods(self) -> Iterator[Owners]:
        """A method that changes things, handed on without being called: anything may happen."""
        if self._walk.pulled & (MUTATORS | OBJECT_MUTATORS):
            yield None
        for member in self._walk.handed_on:
            key = static_key(member, self._walk.source)
            if key in MUTATORS or (
                key in OBJECT_MUTATORS and self._global_root(member) == "Object"
            ):
                yield None

    def _global_root(self, item: Item) -> str | None:
        """The JavaScript global a member chain starts at."""
        node = item.node
        while node.type == "member_expression":
            inner = node.child_by_field_name("object")
            if inner is None:
                return None
            node = inner
        if node.type != "identifier":
            return None
        name = decoded(self._walk.source.spelling(node))
        return name if name in JAVASCRIPT_GLOBALS and not item.scope.knows(name) else None

    def _of_first(self, arguments: list[Item]) -> Owners:
        """Whose value the first argument is; any may be first where a list is spread."""
        if any(argument.kind == "spread_element" for argument in arguments):
            return self._of_all(arguments, fresh=False)
        return self._of_all(arguments[:1], fresh=True)

    def _of_all(self, items: Iterable[Item], *, fresh: bool, depth: int = 0) -> Owners:
        found: set[Path] = set()
        for item in items:
            owners = self._owners(item, fresh=fresh, depth=depth + 1)
            if owners is None:
                return None
            found |= owners
        return frozenset(found)

    def _owners(self, item: Item, *, fresh: bool, depth: int = 0) -> Owners:
        """Whose value `item` may be. With `fresh`, what was just made belongs to nobody."""
        if depth > MAX_NESTING:
            return None
        kind = item.kind
        if kind in _VALUES:
            return NOBODY
        if kind in ("identifier", "shorthand_property_identifier"):
            return self._owners_of_name(item)
        if kind in ("member_expression", "subscript_expression"):
            return self._owners_of_member(item, depth)
        if kind == "call_expression":
            return self._owners_of_call(item, fresh, depth)
        if kind in _FUNCTIONS:
            return NOBODY if fresh else self._seen_in(item)
        if kind == "new_expression":
            return self._owners_of_new(item, fresh, depth)
        if kind in ("array", "object"):
            return NOBODY if fresh else self._of_all(_parts(item), fresh=False, depth=depth)
        if kind == "assignment_expression":
            return self._of_all(_fields(item, "right"), fresh=fresh, depth=depth)
        if kind == "ternary_expression":
            sides = _fields(item, "consequence", "alternative")
            return self._of_all(sides, fresh=fresh, depth=depth)
        if kind == "binary_expression":
            if not _is_choice(item):
                return NOBODY
            return self._of_all(_fields(item, "left", "right"), fresh=fresh, depth=depth)
        if kind in ("parenthesized_expression", "spread_element", "pair", "sequence_expression"):
            return self._of_all(_parts(item)[-1:], fresh=fresh, depth=depth)
        return None

    def _owners_of_name(self, item: Item) -> Owners:
        name = decoded(self._walk.source.spelling(item.node))
        if item.scope.knows(name):
            return None
        return NOBODY if name in JAVASCRIPT_GLOBALS else frozenset({(name,)})

    def _owners_of_member(self, item: Item, depth: int) -> Owners:
        target = item.child("object")
        if target is None:
            return None
        owners = self._owners(target, fresh=False, depth=depth + 1)
        key = static_key(item, self._walk.source)
        if item.node.id in self._chain_ends and owners and len(owners) == 1 and key is not None:
            (path,) = owners
            return frozenset({(*path, key)})
        return owners

    def _owners_of_call(self, item: Item, fresh: bool, depth: int) -> Owners:
        callee = item.child("function")
        if callee is None:
            return None
        if callee.kind == "identifier":
            # What a host function gives back is a copy of its own.
            name = decoded(self._walk.source.spelling(callee.node))
            if callee.scope.knows(name):
                return None
            return self._owners_of_made(name, _arguments(item), fresh, depth)
        target = callee.child("object")
        if callee.kind != "member_expression" or target is None:
            return None
        method = static_key(callee, self._walk.source)
        arguments = _arguments(item)
        is_fresh = method in FRESH and (method != "parse" or len(arguments) < 2)
        if is_fresh and fresh:
            return NOBODY
        if method in RETURNS_ITSELF:
            return self._owners(target, fresh=fresh, depth=depth + 1)
        return self._of_all([target, *arguments], fresh=False, depth=depth)

    def _owners_of_made(self, name: str, parts: list[Item], fresh: bool, depth: int) -> Owners:
        """What a global makes of its arguments; `Object` may give back the very one."""
        if name not in HOLDERS or (fresh and name != "Object"):
            return NOBODY
        return self._of_all(parts, fresh=fresh, depth=depth)

    def _owners_of_new(self, item: Item, fresh: bool, depth: int) -> Owners:
        maker = _inside_parentheses(item.child("constructor"))
        if maker is None or maker.kind != "identifier":
            return None  # a constructor may give back what it likes
        name = decoded(self._walk.source.spelling(maker.node))
        if maker.scope.knows(name):
            return None
        return self._owners_of_made(name, _arguments(item), fresh, depth)

    def _seen_in(self, function: Item) -> Owners:
        """The variables that a function could give back."""
        start, end = function.node.start_byte, function.node.end_byte
        return frozenset(
            (name,)
            for name, item in self._walk.names
            if start <= item.node.start_byte < end
            and name in self._free_roots
            and not item.scope.knows(name)
        )


_VALUES: Final = frozenset(
    [
        "number",
        "string",
        "template_string",
        "regex",
        "true",
        "false",
        "null",
        "undefined",
        "unary_expression",
        "update_expression",
        "template_substitution",
        "property_identifier",
        "computed_property_name",
        "comment",
    ]
)
_FUNCTIONS: Final = frozenset(
    [
        "arrow_function",
        "function_expression",
        "generator_function",
        "class",
        "method_definition",
    ]
)


def _stored(target: Item) -> list[Item]:
    """What a target is assigned: the right side, and the defaults on the way to it."""
    values: list[Item] = []
    here = target.parent
    while here is not None and here.kind in _TOWARDS_VALUE:
        value = here.child("right")
        if value is not None and value.node.id != target.node.id:
            values.append(value)
        if here.kind in _ASSIGNMENTS:
            break
        here = here.parent
    return values


_ASSIGNMENTS: Final = frozenset(
    ["assignment_expression", "augmented_assignment_expression", "for_in_statement"]
)
_TOWARDS_VALUE: Final = _ASSIGNMENTS | PATTERNS | {"parenthesized_expression"}


def _inside_parentheses(item: Item | None) -> Item | None:
    while item is not None and item.kind == "parenthesized_expression":
        inner = _parts(item)
        item = inner[0] if inner else None
    return item


def _nodes_of(chain: Chain) -> Iterator[int]:
    """The nodes of a chain, from its name to its end."""
    here: Item | None = chain.item
    while here is not None:
        yield here.node.id
        if here is chain.end:
            return
        here = here.parent


def _fields(item: Item, *names: str) -> list[Item]:
    return [child for name in names if (child := item.child(name)) is not None]


def _parts(item: Item) -> list[Item]:
    return [
        Item(node, item, field, item.scope, "read")
        for node, field in item.children()
        if field not in ("key", "constructor") and node.type != "comment"
    ]


def _arguments(call: Item) -> list[Item]:
    found = call.child("arguments")
    return _parts(found) if found is not None else []


def _is_choice(item: Item) -> bool:
    operator = item.node.child_by_field_name("operator")
    return operator is not None and operator.type in ("||", "&&", "??")
