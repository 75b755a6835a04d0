"""Which methods and functions of JavaScript change things, make new ones, or pass them on?

Tables for `effects`, by name alone: what a method is called on is not known from the text.
"""

from __future__ import annotations

from typing import Final

MUTATORS: Final = frozenset(
    [
        "push",
        "pop",
        "shift",
        "unshift",
        "splice",
        "sort",
        "reverse",
        "fill",
        "copyWithin",
        "setDate",
        "setFullYear",
        "setHours",
        "setMilliseconds",
        "setMinutes",
        "setMonth",
        "setSeconds",
        "setTime",
        "setUTCDate",
        "setUTCFullYear",
        "setUTCHours",
        "setUTCMilliseconds",
        "setUTCMinutes",
        "setUTCMonth",
        "setUTCSeconds",
        "setYear",
        "__defineGetter__",
        "__defineSetter__",
    ]
)
"""Methods that change what they are called on."""

OBJECT_MUTATORS: Final = frozenset(
    ["assign", "defineProperty", "defineProperties", "setPrototypeOf"]
)
"""Functions of `Object` that change their first argument."""

FRESH: Final = frozenset(
    [
        "map",
        "filter",
        "slice",
        "concat",
        "flat",
        "flatMap",
        "split",
        "toSorted",
        "toReversed",
        "toSpliced",
        "with",
        "match",
        "keys",
        "values",
        "entries",
        "fromEntries",
        "from",
        "of",
        "parse",
    ]
)
"""Methods that give a new list or object; what is in it may still be shared."""

TAKES_CALLBACK: Final = frozenset(
    {
        "every",
        "filter",
        "find",
        "findIndex",
        "findLast",
        "findLastIndex",
        "flatMap",
        "forEach",
        "from",
        "map",
        "reduce",
        "reduceRight",
        "some",
    }
)
"""Methods that call a function with the items of a list."""

RETURNS_ITSELF: Final = frozenset(["sort", "reverse", "copyWithin"])

TAKES_IN: Final = frozenset(["push", "unshift", "splice", "fill"])
"""Methods that put their arguments into what they are called on."""

HOLDERS: Final = frozenset(
    [
        "Object",
        "Array",
        "Map",
        "Set",
        "WeakMap",
        "WeakSet",
        "Error",
        "EvalError",
        "RangeError",
        "ReferenceError",
        "SyntaxError",
        "TypeError",
        "URIError",
        "AggregateError",
    ]
)
"""Globals that make something through which their arguments can be reached."""
