"""From what the user types to a stored answer: waiting for it, shaping it, keeping it.

Asking is `asking`'s, checking is `validation`'s; both wait and store through here, so that keypad
settings and sensitive answers are treated alike in a first question and in a correction.
spec: flow-engine 3.2, 9
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from saywhy.chart.model import Node
from saywhy.chart.outcome import Answer, Need
from saywhy.chart.scope import Scope
from saywhy.expr.template import fill_paths
from saywhy.flows import patience
from saywhy.flows.evaluate import FlowNames, condition, is_truthy
from saywhy.flows.world import World
from saywhy.trace.masking.digests import telling_parts
from saywhy.values import UNDEFINED, freeze

SECRETS: Final = ("session", "secrets")
DIGITS: Final = ("cargo", "digits")
VOICE: Final = ("cargo", "voice")

_KEY: Final = re.compile(r"[^\w*#]*([0-9*#])[^\w*#]*")
"""One key with marks around it but no words: a `$` before it is such a mark, as `asSpoken` is for
those who want to keep it."""
_DIGIT: Final = re.compile(r"[0-9]")


# ------------------------------------------------------------------ waiting


def wait(world: World, node: Node, scope: Scope, name: str, *, field: str, pii: bool) -> Need:
    """The Need for the user's next words, which go to the variable `field`."""
    if node.spec.get("digits") is not None and field == (node.spec.get("variable") or ""):
        offer_keypad(world, node, scope)
    patience.begin(node, scope)
    scope.keep("pii", pii)
    args = {"pii": True} if pii else {}
    return Need("user", name, {**args, "field": field} if field != name else args or None)


def field_of(asked: Need) -> str:
    """The variable that the answer to a Need of `wait` goes to; empty for none."""
    args: Mapping[str, Any] = asked.args or {}
    return str(args.get("field", asked.name))


def offer_keypad(world: World, node: Node, scope: Scope) -> None:
    """Tell the host's keypad what is expected, for as long as the question is open."""
    names = FlowNames(world, scope)
    digits, reads = fill_paths(node.spec["digits"], names)
    scope.reads.extend(key for key in map(names.key, reads) if key is not None)
    scope.set(DIGITS, digits)


def withdraw_keypad(scope: Scope) -> None:
    """The question is no longer open: nothing is expected from the keypad."""
    if scope.has(*DIGITS):
        scope.delete(DIGITS)


def is_on(world: World, scope: Scope, setting: Any) -> bool:
    """A switch of a step: true, or a condition on the flow's variables."""
    if isinstance(setting, str):
        return condition(world, scope, setting)[0]
    return bool(setting)


def is_sensitive(world: World, scope: Scope, setting: Any) -> bool:
    """Whether an answer is sensitive (`pii`): also where the condition for it cannot be evaluated,
    since what was written down once cannot be taken back."""
    if isinstance(setting, str):
        holds, problem = condition(world, scope, setting)
        return holds or bool(problem)
    return bool(setting)


# ------------------------------------------------------------------ taking


def take_input(scope: Scope, answer: Answer) -> str:
    """The user's words: noted as read, kept as the frame's `userInput`."""
    text = str(answer.value or "").strip()
    message = answer.facts.get("message", 0)
    scope.reads.append(("input", str(message)))
    withdraw_keypad(scope)
    patience.end(scope)
    scope.data.update({"input": [text, message], "question": None, "justResumed": False})
    return text


def note_words(scope: Scope) -> None:
    """Note the words that were taken in before as read once more."""
    _, message = scope.kept("input")
    scope.reads.append(("input", str(message)))


def store(scope: Scope, field: str, text: str) -> None:
    """Put an answer in its variable. A sensitive one is masked in every record from here on, and
    so is the value in it where there are words around that."""
    hide(scope, text)
    if scope.kept("pii"):
        for part in telling_parts(text):
            mask(scope, part)
    if field:
        scope.set((scope.frame.scope, field), text)


def hide(scope: Scope, text: str) -> None:
    """Where the answer is sensitive: no record of this step or a later one shows it."""
    if scope.kept("pii") and text:
        mask(scope, text)


def mask(scope: Scope, text: str) -> None:
    """Show these words in no record of this step or a later one."""
    scope.secrets = (*scope.secrets, text)
    known = scope.peek(SECRETS) or ()
    if text not in known:
        scope.staged[SECRETS] = freeze([*known, text])  # no operation: a record would tell it


def is_secret(scope: Scope, field: str) -> bool:
    """Whether what stands in `field` is a sensitive answer."""
    value = scope.peek((scope.frame.scope, field))
    return isinstance(value, str) and value in (scope.peek(SECRETS) or ())


# ------------------------------------------------------------------ spoken answers


def shaped(world: World, node: Node, scope: Scope, text: str) -> str:
    """A spoken answer to a keypad question as its keys, where it fits; anything else as it is.

    What was said is as sensitive as what is made of it.
    """
    hide(scope, text)
    digits = scope.peek(DIGITS)
    is_keys = digits is not UNDEFINED and isinstance(digits, Mapping)
    if not is_truthy(scope.read(VOICE) if is_keys else scope.peek(VOICE)):
        return text
    if is_on(world, scope, node.spec.get("asSpoken")):
        return text
    most = _number(digits.get("max")) if is_keys else None
    if most is None:
        return _as_said(scope, text)
    if most == 1:  # a digit inside a sentence is never a key press
        key = _KEY.fullmatch(text)
        return key[1] if key else text
    found = _DIGIT.findall(text)
    fits = (_number(digits.get("min")) or 1) <= len(found) <= most
    return "".join(found) if fits else _as_said(scope, text)


def _as_said(scope: Scope, text: str) -> str:
    """Words that only a model can make clearer."""
    scope.facts["as_said"] = True
    return text


def is_to_be_cleaned(world: World, scope: Scope) -> bool:
    """Whether a spoken answer was left as it was said, and there is a model to clean it."""
    return world.has_model and bool(scope.facts.get("as_said"))


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
