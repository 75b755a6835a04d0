"""Promise: mistakes in `approval` and `reconcile` are found with their place and a way out."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import Place
from saywhy.tools.check import problems_of

BASE = {"id": "Charge", "implementation": {"type": "local", "function": "charge"}}


@pytest.mark.parametrize(
    ("keys", "pointer", "message"),
    [
        ({"approval": "yes"}, "/approval",
         '`approval` of tool Charge must be true or an object, not "yes"'),
        ({"approval": {"whne": "args.n"}}, "/approval/whne",
         '`approval` of tool Charge has the unknown key "whne"'),
        ({"approval": {"when": 5}}, "/approval/when",
         "`when` of tool Charge must be an expression, not 5"),
        ({"approval": {"when": "args.n >"}}, "/approval/when",
         '`when` of tool Charge cannot be read: something is missing after ">"'),
        ({"approval": {"when": "amount > 5"}}, "/approval/when",
         "`when` of tool Charge looks at no argument"),
        ({"approval": {"expires": "soon"}}, "/approval/expires",
         '`expires` of tool Charge must be a stretch of time, not "soon"'),
        ({"approval": {"by": 5}}, "/approval/by", "`by` of tool Charge must be text, not 5"),
        ({"reconcile": 5}, "/reconcile", "`reconcile` of tool Charge must name a function, not 5"),
        ({"reconcile": {"timeout": 5}}, "/reconcile",
         "`reconcile` of tool Charge must name a function, not nothing"),
        ({"reconcile": {"function": "f", "timeout": 0}}, "/reconcile/timeout",
         "`timeout` of `reconcile` of tool Charge must be a number above 0, not 0"),
        ({"reconcile": {"function": "f", "tmeout": 1}}, "/reconcile/tmeout",
         '`reconcile` of tool Charge has the unknown key "tmeout"'),
        ({"reconcile": "f", "effect": "reads"}, "/reconcile",
         "`reconcile` of tool Charge is never asked: what only reads is done again"),
    ],
)  # fmt: skip
def test_mistakes(keys: dict[str, Any], pointer: str, message: str) -> None:
    """One problem, at the key, with a hint."""
    (problem,) = problems_of({**BASE, **keys}, Place(pointer="/0"))
    assert (problem.message, problem.place.pointer) == (message, f"/0{pointer}")
    assert problem.hint


def test_nothing_to_find() -> None:
    """What is right passes."""
    keys = {
        "approval": {"when": "args.n > 5", "expires": "15m", "by": "treasury"},
        "reconcile": {"function": "find", "timeout": 100},
    }
    assert list(problems_of({**BASE, **keys}, Place())) == []
    assert list(problems_of({**BASE, "approval": False, "reconcile": "find"}, Place())) == []
