"""Which names belong to JavaScript itself?"""

from __future__ import annotations

from typing import Final

RESERVED_GLOBALS: Final = frozenset(
    {"Object", "Date", "Math", "String", "Number", "Boolean", "Array", "JSON"}
)
"""Names that always mean JavaScript's own, whatever a variable or function is called.

spec: flow-engine 4.2
"""

CONSTANTS: Final = frozenset({"undefined", "NaN", "Infinity"})
"""Values with names; a variable cannot take these either."""

JAVASCRIPT_GLOBALS: Final = (
    RESERVED_GLOBALS
    | CONSTANTS
    | frozenset(
        [
            "parseInt",
            "parseFloat",
            "isNaN",
            "isFinite",
            "encodeURI",
            "encodeURIComponent",
            "decodeURI",
            "decodeURIComponent",
            "escape",
            "unescape",
            "btoa",
            "atob",
            "BigInt",
            "Symbol",
            "RegExp",
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
            "ArrayBuffer",
            "DataView",
            "Int8Array",
            "Uint8Array",
            "Uint8ClampedArray",
            "Int16Array",
            "Uint16Array",
            "Int32Array",
            "Uint32Array",
            "BigInt64Array",
            "BigUint64Array",
            "Float32Array",
            "Float64Array",
            "Function",
            "Intl",
        ]
    )
)
"""What an expression finds without anybody handing it over; a test compares it with the engine."""
