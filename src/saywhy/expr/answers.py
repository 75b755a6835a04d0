"""How do the answers of approved functions come into the next round of an evaluation?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from saywhy.expr.brief import MAX_TEXT
from saywhy.expr.outcome import FunctionAnswer
from saywhy.expr.transfer import tree_json
from saywhy.values import same

TAGGED: Final = '{"tagged":'
"""How answers begin that are not plain data."""


def answers_json(answers: Sequence[FunctionAnswer]) -> str:
    """The answers for `kit.open`: a list as it is, or in an object where tags are to be read."""
    if not answers:
        return ""
    rows: list[list[Any]] = [
        [
            answer.name,
            answer.value,
            None if answer.error is None else [answer.error_name, answer.error],
            [] if answer.args_after is None else _changed(answer.args, answer.args_after),
        ]
        for answer in answers
    ]
    text = tree_json(rows).decode()
    return f"{TAGGED}{text}}}" if '"$' in text else text


def is_short(text: str) -> bool:
    """Whether answers are as short and plain as what needs no time limit: see `brief`."""
    return len(text) <= MAX_TEXT and text[:1] != TAGGED[0]


def _changed(before: list[Any], after: list[Any]) -> list[list[Any]]:
    """Number and value of the arguments that the function changed.

    The others must be left alone: what was handed over twice (an item and its list) came to the
    function as two copies, and the copy it did not touch would undo what it did to the other.
    """
    pairs = enumerate(zip(before, after, strict=False))
    return [[number, now] for number, (was, now) in pairs if not same(was, now)]
