"""Is an expression over before a time limit could ever end it? Told from its text alone.

The engine looks at the clock at turns of loops and calls of functions, once in ten thousand of
them. What has no loops and no regular expressions of its own, calls nothing but what is listed here
and approved functions, and is handed only short texts, never gets there: the limit would only be
paid for. Functions of its own are called for each item of a short list, if they only compute. A
list of what is allowed, so that what nobody thought of has the limit.
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

NUMERIC: Final = frozenset(
    ["abs", "ceil", "floor", "max", "min", "round", "sign", "toFixed", "trunc"]
)
"""Those of them that take no longer for longer texts."""

CALLBACKS: Final = frozenset(["every", "filter", "find", "findIndex", "map", "reduce", "some"])
"""Methods that call back once for each item. Beside them stands nothing but what is `NUMERIC`, and
none is called in what another one calls: so the work is the length of a list times that of the
text."""

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
    called: set[str] = set()
    while waiting:
        node = waiting.pop()
        names += node.type == "identifier"
        if names > MAX_NAMES or not _is_allowed(node, called):
            return False
        waiting += node.named_children
    return called <= METHODS or called <= CALLBACKS | NUMERIC


def _is_allowed(node: Node, called: set[str]) -> bool:
    """Whether a node is, without those in it. The methods that are called are noted."""
    if node.type in ("arrow_function", "formal_parameters"):
        return _is_callback(node)
    if node.type not in KINDS or (node.type == "array" and _is_inside_function(node)):
        return False  # a list of lists that hold the one before twice has no end as a text
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
    key = spelling(function.child_by_field_name("property"))
    called.add(key)
    if key in CALLBACKS:
        given = arguments.named_children
        return bool(given) and given[0].type == "arrow_function"
    return function.type == "member_expression" and key in METHODS


def _is_callback(node: Node) -> bool:
    """Whether a function of the author's is handed to a method that calls it for each item, stands
    in no other one, and computes an expression from plain parameters."""
    if node.type == "formal_parameters":
        return all(one.type == "identifier" for one in node.named_children)
    body, around = node.child_by_field_name("body"), node.parent
    if body is None or body.type == "statement_block" or node.children[0].type == "async":
        return False
    call = around.parent if around is not None and around.type == "arguments" else None
    function = call.child_by_field_name("function") if call is not None else None
    if function is None or function.type != "member_expression":
        return False
    key = spelling(function.child_by_field_name("property"))
    return key in CALLBACKS and not _is_inside_function(node)


def _is_inside_function(node: Node) -> bool:
    around = node.parent
    while around is not None and around.type != "arrow_function":
        around = around.parent
    return around is not None


def spelling(node: Node | None) -> str:
    """What stands in the text."""
    return node.text.decode("utf-8", "replace") if node is not None and node.text else ""
