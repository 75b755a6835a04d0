"""Which names in an expression are free, and what is done with each of them?

Walks the tree once, with a stack of its own (an expression may be nested thousands deep), tells
parameters and local variables from free names, and notes every place where something is written.
What may be changed through those places is `effects`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from saywhy.expr.syntax import Source, SyntaxProblem

if TYPE_CHECKING:
    from tree_sitter import Node

Mode: TypeAlias = Literal["read", "assign", "update", "delete", "var", "let", "skip"]
"""What happens to a name or member: `var` and `let` declare it in the function or the block."""


MAX_DEPTH: Final = 100
"""Functions and blocks inside one another. The engine takes a second to compile a thousand, and
looks at no clock meanwhile."""


WORK_PER_REST: Final = 12


class Scope:
    """The names one function or block declares."""

    __slots__ = ("depth", "function", "names", "of", "parent")

    def __init__(self, parent: Scope | None, function: bool, of: str) -> None:
        self.parent = parent
        self.function = function
        self.of = of
        self.names: set[str] = set()
        self.depth: int = 0 if parent is None else parent.depth + 1

    def knows(self, name: str) -> bool:
        """Whether `name` is declared here or further out."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return True
            scope = scope.parent
        return False

    def nearest_function(self) -> Scope:
        """The scope that `var` declares in."""
        scope = self
        while not scope.function and scope.parent is not None:
            scope = scope.parent
        return scope

    def is_inside(self, kinds: frozenset[str]) -> bool:
        """Whether the nearest function (arrow or not) is one of `kinds`."""
        return self.nearest_function().of in kinds


class Item:
    """A node with its parent, its field there, its scope and what happens to it."""

    __slots__ = ("field", "kind", "mode", "node", "parent", "scope")

    def __init__(
        self, node: Node, parent: Item | None, field: str, scope: Scope, mode: Mode
    ) -> None:
        self.node = node
        self.kind = node.type
        self.parent = parent
        self.field = field
        self.scope = scope
        self.mode: Mode = mode

    def children(self) -> Iterator[tuple[Node, str]]:
        """Named children with their field names."""
        for index, child in enumerate(self.node.children):
            if child.is_named:
                yield child, self.node.field_name_for_child(index) or ""

    def child(self, field: str) -> Item | None:
        """The child in `field`, as an item of its own."""
        node = self.node.child_by_field_name(field)
        return Item(node, self, field, self.scope, "read") if node is not None else None


class Walk:
    """The free names and writes of one expression, in the order of the text."""

    def __init__(self, source: Source, root: Node) -> None:
        self.source = source
        self.root = root
        self.problem: SyntaxProblem | None = None
        self.spelled: set[str] = set()
        self.has_async = False
        self.names: list[tuple[str, Item]] = []
        """Every name that is read or assigned, free or not."""
        self.members: list[Item] = []
        """Members that are assigned, updated or deleted."""
        self.handed_on: list[Item] = []
        """Members that are read and given to somebody: arguments, items of lists, new values."""
        self.calls: list[Item] = []
        """Calls, tagged templates and `new`."""
        self.handlers: list[Node] = []
        """Blocks of `catch` and `finally`."""
        self.bodies: list[tuple[Node, str]] = []
        """Bodies of functions and loops, with the kind of what they are the body of."""
        self.operations: list[Node] = []
        """Products, powers and shifts, with or without assignment, and comparisons."""
        self.patterns: list[Node] = []
        """Regular expressions."""
        self.pulled: set[str] = set()
        """Keys that patterns take out of objects: `push` in `{push: add} = xs`."""
        self.spreads: list[Node] = []
        """What is spread into an object."""
        self.rests: list[tuple[Node, bool]] = []
        """Every twelfth of the operations in the text, where something may stand around it; and
        whether it is a statement."""
        self._work = 0
        top = Scope(None, True, "program")
        waiting = [Item(root, None, "", top, "read")]
        while waiting:
            item = waiting.pop()
            waiting.extend(reversed(list(self._visit(item))))

    def free(self) -> Iterator[tuple[str, Item]]:
        """The names that no scope of the expression declares."""
        return ((name, item) for name, item in self.names if not item.scope.knows(name))

    def _visit(self, item: Item) -> Iterator[Item]:
        kind = item.kind
        self._check(item)
        if kind in _WORK:
            self._rest(item)
        if kind in _NAMES:
            self._name(item)
            return
        if kind in ("member_expression", "subscript_expression"):
            if item.mode in _WRITES:
                self.members.append(item)
            elif item.parent is not None and item.parent.kind in _HANDS_ON:
                self.handed_on.append(item)
        elif kind in ("call_expression", "new_expression"):
            self.calls.append(item)
        elif kind in _COLLECTED:
            self._collect(item)
        elif kind == "pair_pattern":
            key = item.node.child_by_field_name("key")
            if key is not None:
                self.pulled.add(decoded(self.source.spelling(key)).strip("'\""))
        scope = self._scope_of(item)
        if scope.depth > MAX_DEPTH:
            self.problem = SyntaxProblem(_DEEP, self.source.span(item.node), _DEEP_HINT)
            return
        for child, field in item.children():
            mode = _mode_of_child(item, child, field)
            yield Item(child, item, field, scope, mode)

    def _rest(self, item: Item) -> None:
        """Each operation may take milliseconds, and a text has room for thousands."""
        self._work += 4 if item.kind in _COPIES else 1
        if self._work < WORK_PER_REST or item.mode != "read" or item.kind in _PARTS:
            return
        if item.parent is not None and item.parent.kind in _HOLDS_VALUES and item.field != "left":
            self._work = 0
            self.rests.append((item.node, item.parent.kind == "expression_statement"))

    def _collect(self, item: Item) -> None:
        """Note places where `program` has something to add."""
        kind, node = item.kind, item.node
        body = node.child_by_field_name("body")
        if kind in ("catch_clause", "finally_clause") and body is not None:
            self.handlers.append(body)
        elif kind in _FUNCTIONS | _LOOPS and body is not None:
            self.bodies.append((body, kind))
            if kind == "arrow_function" and body.type != "statement_block":
                self._braces(body)
        elif kind == "regex":
            self.patterns.append(node)
        elif kind == "spread_element":
            if item.parent is not None and item.parent.kind == "object":
                self.spreads.extend(node.named_children[:1])
        elif kind in _OPERATIONS:
            operator = node.child_by_field_name("operator")
            if operator is not None and operator.type in _BOUNDED:
                self.operations.append(node)

    def _name(self, item: Item) -> None:
        name = decoded(self.source.spelling(item.node))
        self.spelled.add(name)
        if item.kind == "shorthand_property_identifier_pattern":
            self.pulled.add(name)
        if item.mode == "skip":
            return
        if item.mode == "var":
            item.scope.nearest_function().names.add(name)
        elif item.mode == "let":
            item.scope.names.add(name)
        else:
            self.names.append((name, item))

    def _scope_of(self, item: Item) -> Scope:
        """The scope of the children of `item`, with the name it declares for itself."""
        kind = item.kind
        if kind in _FUNCTIONS:
            scope = Scope(item.scope, True, _function_kind(item.node))
            self.has_async = self.has_async or "async" in scope.of
            if kind != "arrow_function":
                scope.names.add("arguments")
            name = item.node.child_by_field_name("name")
            if name is not None and name.type == "identifier":
                owner = item.scope if kind.endswith("_declaration") else scope
                owner.names.add(decoded(self.source.spelling(name)))
            return scope
        if kind in ("class", "class_declaration"):
            scope = Scope(item.scope, False, kind)
            name = item.node.child_by_field_name("name")
            if name is not None:
                owner = item.scope if kind == "class_declaration" else scope
                owner.names.add(decoded(self.source.spelling(name)))
            return scope
        if kind in ("class_static_block", "field_definition"):
            return Scope(item.scope, True, "method")
        if kind in _BLOCKS:
            return Scope(item.scope, False, kind)
        return item.scope

    def _check(self, item: Item) -> None:
        """Strict-mode rules that the parser is too kind about."""
        message = _forbidden(item, self.source)
        if message and self.problem is None:
            self.problem = SyntaxProblem(message, self.source.span(item.node))

    def _braces(self, body: Node) -> None:
        """Braces behind `=>` are a block, though the parser prefers to see an object."""
        start = self.source.span(body)[0]
        has_braces = self.source.text[start : start + 1] == "{"
        if has_braces and not _is_block(body) and self.problem is None:
            self.problem = SyntaxProblem(_BLOCK, (start, start + 1), _BLOCK_HINT)


def _is_block(braces: Node) -> bool:
    """Whether what looks like an object can be a block: `{a: 1, b}`, where `a` is a label."""
    first, *others = braces.named_children or [braces]
    key = first.child_by_field_name("key")
    return (
        braces.type == "object"
        and key is not None
        and key.type == "property_identifier"
        and all(other.type == "shorthand_property_identifier" for other in others)
    )


_DEEP: Final = f"functions and blocks are nested more than {MAX_DEPTH} deep"
_DEEP_HINT: Final = "compute it in several SET steps, or in a function"
_BLOCK: Final = '"{" behind "=>" begins a block of statements, not an object'
_BLOCK_HINT: Final = "put round brackets around the object: `=> ({ … })`"

_NAMES: Final = frozenset(
    {"identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"}
)
_WRITES: Final = frozenset({"assign", "update", "delete"})
_WORK: Final = frozenset(
    [
        "assignment_expression",
        "augmented_assignment_expression",
        "binary_expression",
        "call_expression",
        "member_expression",
        "new_expression",
        "object",
        "rest_pattern",
        "spread_element",
        "subscript_expression",
        "template_substitution",
        "unary_expression",
    ]
)
_COPIES: Final = frozenset({"rest_pattern", "spread_element"})
_PARTS: Final = _COPIES | {"template_substitution"}
_HOLDS_VALUES: Final = frozenset(
    [
        "arguments",
        "array",
        "binary_expression",
        "expression_statement",
        "pair",
        "parenthesized_expression",
        "return_statement",
        "sequence_expression",
        "template_substitution",
        "ternary_expression",
        "variable_declarator",
    ]
)
_HANDS_ON: Final = frozenset(
    ["arguments", "variable_declarator", "array", "pair", "assignment_expression"]
)
_FUNCTIONS: Final = frozenset(
    [
        "arrow_function",
        "function_expression",
        "function_declaration",
        "generator_function",
        "generator_function_declaration",
        "method_definition",
    ]
)
_BLOCKS: Final = frozenset(
    ["statement_block", "for_statement", "for_in_statement", "catch_clause", "switch_body"]
)
_LOOPS: Final = frozenset(["for_statement", "for_in_statement", "while_statement", "do_statement"])
_OPERATIONS: Final = frozenset({"binary_expression", "augmented_assignment_expression"})
_BOUNDED: Final = frozenset({"*", "**", "<<", "*=", "**=", "<<=", "<", "<=", ">", ">="})
"""Those that have one of ours in place of the engine's where there may be BigInts."""
_COLLECTED: Final = (
    _FUNCTIONS
    | _LOOPS
    | _OPERATIONS
    | frozenset({"catch_clause", "finally_clause", "regex", "spread_element"})
)
PATTERNS: Final = frozenset(
    [
        "object_pattern",
        "array_pattern",
        "rest_pattern",
        "pair_pattern",
        "assignment_pattern",
        "object_assignment_pattern",
        "array",
        "object",
        "pair",
        "spread_element",
    ]
)


def _mode_of_child(item: Item, child: Node, field: str) -> Mode:
    kind = item.kind
    if field in ("property", "label") or child.type in ("property_identifier", "comment"):
        return "skip"
    if kind == "formal_parameters":
        return "let"
    fixed = _FIELD_MODES.get((kind, field))
    if fixed is not None:
        return fixed
    if kind == "variable_declarator" and field == "name":
        return "var" if _is_var(item) else "let"
    if kind == "for_in_statement" and field == "left":
        word = item.node.child_by_field_name("kind")
        if word is None:
            return "assign"
        return "var" if word.type == "var" else "let"
    if kind == "unary_expression" and item.node.children[0].type == "delete":
        return "delete"
    if kind == "parenthesized_expression" and item.mode in _WRITES:
        return item.mode
    if kind in PATTERNS and item.mode != "read":
        # In `{key: target = fallback}` the key and the fallback are not targets.
        is_target = field not in ("key", "right") and child.type != "computed_property_name"
        return item.mode if is_target else "read"
    return "read"


_FIELD_MODES: Final[dict[tuple[str, str], Mode]] = {
    ("assignment_expression", "left"): "assign",
    ("augmented_assignment_expression", "left"): "update",
    ("update_expression", "argument"): "update",
    ("arrow_function", "parameter"): "let",
    ("catch_clause", "parameter"): "let",
    ("function_expression", "name"): "skip",
    ("function_declaration", "name"): "skip",
    ("generator_function", "name"): "skip",
    ("generator_function_declaration", "name"): "skip",
    ("class", "name"): "skip",
    ("class_declaration", "name"): "skip",
}


def _is_var(declarator: Item) -> bool:
    parent = declarator.parent
    return parent is not None and parent.kind == "variable_declaration"


def _function_kind(node: Node) -> str:
    # Comments are children as well: `static /* a */ async m() {}`.
    words = {child.type for child in node.children if not child.is_named}
    kind = "arrow" if node.type == "arrow_function" else "function"
    if "async" in words:
        kind = "async " + kind
    if "generator" in node.type or "*" in words:
        kind += " generator"
    return kind


_ASYNC: Final = frozenset({"async arrow", "async function", "async function generator"})
_GENERATORS: Final = frozenset({"function generator", "async function generator"})


def _forbidden(item: Item, source: Source) -> str:
    kind = item.kind
    if kind == "await_expression" and not item.scope.is_inside(_ASYNC):
        return "await may stand only inside an async function"
    if kind == "yield_expression" and not item.scope.is_inside(_GENERATORS):
        return "yield may stand only inside a generator function"
    if kind == "import":
        return "import is not available in expressions"
    if kind == "number" and re.match(r"0\d", source.spelling(item.node)):
        return "numbers may not start with 0; write 0o17 for octal"
    if kind == "with_statement":
        return "with is not allowed"
    if kind in _NAMES:
        return _forbidden_name(source.spelling(item.node), item.mode)
    return ""


def _forbidden_name(name: str, mode: Mode) -> str:
    # The parser takes any symbol for a letter, an emoji for instance.
    if not name.isascii() and not _NOT_IN_PYTHON.sub("_", name).isidentifier():
        return f'unexpected "{name}"'
    if mode == "delete":
        return f'"{name}" is a variable and cannot be deleted; only what is inside one can'
    if mode in _WRITES and name in ("eval", "arguments"):
        return f'"{name}" cannot be assigned'
    return ""


_NOT_IN_PYTHON: Final = re.compile(r"[$\u200c\u200d]|\\u\{?[0-9a-fA-F]+\}?")
"""What names in JavaScript may have and names in Python may not."""

_ESCAPE: Final = re.compile(r"\\u\{([0-9a-fA-F]+)\}|\\u([0-9a-fA-F]{4})")


def decoded(name: str) -> str:
    """A name with its `\\uXXXX` escapes read."""
    if "\\" not in name:
        return name
    return _ESCAPE.sub(lambda match: chr(int(match[1] or match[2], 16)), name)
