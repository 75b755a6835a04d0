"""Does an expression leave what it is handed as it was, whatever that is?

Told from its text alone, and by a list of what is allowed: no assignment, no object or class of its
own, no function but arrows that give one value, and of methods only such as change nothing. Then
nothing can be called but what is written down here, since data holds no functions. `effects` says
where an expression may write; but a conversation must not depend on that being complete when what
one expression was handed is lent to another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from saywhy.expr.brief import FUNCTIONS, KINDS, METHODS, OPERATORS, spelling
from saywhy.expr.methods import TAKES_CALLBACK

if TYPE_CHECKING:
    from tree_sitter import Node

_KINDS: Final = KINDS | {"array_pattern", "arrow_function", "formal_parameters"}
_METHODS: Final = METHODS | {"concat", "entries", "flat", "join", "keys", "split", "values"}
_CALLERS: Final = TAKES_CALLBACK - {"forEach", "from"}
"""Methods that call what they are given. That must be an arrow, written there and then: with
`[1].map(xs.push, xs)` the list would grow."""


def is_harmless(root: Node) -> bool:
    """Whether the expression with this tree can be lent data that others will be lent as well."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type not in _KINDS or not _is_allowed(node):
            return False
        waiting += node.named_children
    return True


def _is_allowed(node: Node) -> bool:
    if node.type in ("binary_expression", "unary_expression"):
        operator = node.child_by_field_name("operator")
        return operator is not None and operator.type in OPERATORS
    if node.type == "arrow_function":
        return node.children[0].type != "async"
    if node.type != "call_expression":
        return True
    function = node.child_by_field_name("function")
    arguments = node.child_by_field_name("arguments")
    if function is None or arguments is None or arguments.type != "arguments":
        return False
    if function.type == "identifier":
        return spelling(function) in FUNCTIONS
    if function.type != "member_expression":
        return False
    method = spelling(function.child_by_field_name("property"))
    if method in _CALLERS:
        given = arguments.named_children
        return bool(given) and given[0].type == "arrow_function"
    return method in _METHODS
