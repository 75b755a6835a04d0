"""Is an expression over before a time limit could ever end it? Told from its text alone.

The engine looks at the clock at turns of loops and calls of functions, once in ten thousand of
them. What has no loops, no functions and no regular expressions of its own, calls nothing but what
is listed here and approved functions, and is handed only short texts, never gets there: the limit
would only be paid for. A list of what is allowed, so that what nobody thought of has the limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_SOURCE: Final = 500
"""Characters."""

MAX_NAMES: Final = 20
"""Names in the text. A text that many times over is the longest that can be made, by adding it to
itself or from a list: a search takes as long as two texts multiplied."""

MAX_TEXT: Final = 300
"""Characters of a text that is handed in, or of a list or object as JSON."""

KINDS: Final = frozenset(
    [
        "arguments",
        "array",
        "binary_expression",
        "call_expression",
        "escape_sequence",
        "false",
        "identifier",
        "member_expression",
        "null",
        "number",
        "optional_chain",
        "parenthesized_expression",
        "property_identifier",
        "string",
        "string_fragment",
        "subscript_expression",
        "template_string",
        "template_substitution",
        "ternary_expression",
        "true",
        "unary_expression",
        "undefined",
    ]
)

OPERATORS: Final = frozenset(
    [
        *("+", "-", "*", "/", "%", "**", "&", "|", "^", "~", "<<", ">>", ">>>"),
        *("==", "!=", "===", "!==", "<", "<=", ">", ">="),
        *("&&", "||", "??", "!", "in", "typeof", "void"),
    ]
)
"""Without `delete`, which changes things, and `instanceof`, which may ask an object."""

METHODS: Final = frozenset(
    [
        "abs",
        "at",
        "ceil",
        "charAt",
        "charCodeAt",
        "codePointAt",
        "endsWith",
        "floor",
        "includes",
        "indexOf",
        "isArray",
        "isFinite",
        "isInteger",
        "isNaN",
        "isSafeInteger",
        "lastIndexOf",
        "max",
        "min",
        "round",
        "sign",
        "slice",
        "startsWith",
        "substring",
        "toFixed",
        "toLowerCase",
        "toString",
        "toUpperCase",
        "trim",
        "trimEnd",
        "trimStart",
        "trunc",
    ]
)
"""Methods that call nobody back and make nothing larger than what they are given. What they are
called on does not matter: data holds no functions, so a key of that name cannot be called."""

FUNCTIONS: Final = frozenset(
    ["Boolean", "Number", "String", "isFinite", "isNaN", "parseFloat", "parseInt"]
)


def is_brief(source: str, root: Node) -> bool:
    """Whether no time limit is needed for `source` with its tree.

    Provided that the names in it stand for short texts and plain data, BigInts not among it: see
    `MAX_TEXT`. And that names it calls are in `FUNCTIONS` or approved: those only hand out an
    answer, which is short and plain as well, or end the round.
    """
    if len(source) > MAX_SOURCE:
        return False
    waiting, names = [root], 0
    while waiting:
        node = waiting.pop()
        names += node.type == "identifier"
        if names > MAX_NAMES or node.type not in KINDS or not _is_allowed(node):
            return False
        waiting += node.named_children
    return True


def _is_allowed(node: Node) -> bool:
    if node.type in ("binary_expression", "unary_expression"):
        operator = node.child_by_field_name("operator")
        return operator is not None and operator.type in OPERATORS
    if node.type == "number":
        return not spelling(node).endswith("n")  # a BigInt, which can be of any length
    if node.type != "call_expression":
        return True
    function = node.child_by_field_name("function")
    arguments = node.child_by_field_name("arguments")
    if function is None or arguments is None or arguments.type != "arguments":
        return False  # a template text behind a name calls it
    if function.type == "identifier":
        return True  # approved or not is seen when it is compiled
    key = function.child_by_field_name("property")
    return function.type == "member_expression" and spelling(key) in METHODS


def spelling(node: Node | None) -> str:
    """What stands in the text."""
    return node.text.decode("utf-8", "replace") if node is not None and node.text else ""
