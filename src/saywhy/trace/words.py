"""The words an explanation is made of: how values, variables and steps are named for people.

The words are those of flow authors (steps, answers, branches), not those of the engine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

from saywhy.chart.commit import Commit, Condition, Decision
from saywhy.chart.model import Node
from saywhy.trace.masking.redact import CUT, MARK
from saywhy.trace.phrases import ENGLISH, Wording
from saywhy.values import (
    UNDEFINED,
    BigInt,
    Date,
    Key,
    NonFinite,
    dumps,
    raw,
)

LONGEST_TEXT: Final = 80
_BREAK: Final = "\n"
_BROKEN: Final = "⏎"
_SPLIT: Final = len(MARK) - 1
"""So far from where a text is cut may a mark begin or end that is cut as well."""
LONGEST_VALUE: Final = 80
MOST_NAMES: Final = 4

ROUTING: Final = "(routing)"
"""Name of the chart that decides what becomes of a message."""
CORRECTING: Final = "(correction)"
"""Name of the chart that carries a correction out."""
OWN: Final = frozenset({ROUTING, CORRECTING})
"""Charts of the engine's own: their steps have no name and no place that an author knows."""


# ------------------------------------------------------------------ values


def summary(value: Any, say: Wording = ENGLISH) -> str:
    """A value in a few characters: short texts whole, lists by size, objects by their names."""
    if type(value) is str:  # mostly
        return quoted(value)
    tree = raw(value)
    if isinstance(tree, dict):
        return _names_in(tree)
    if isinstance(tree, list | tuple):
        return "[]" if not tree else f"({say.count('items', len(tree))})"
    return _scalar(tree)


def brief(value: Any, say: Wording = ENGLISH) -> str:
    """A value as JSON where that is short, else its summary."""
    tree = raw(value)
    if isinstance(tree, dict | list | tuple):
        text = _json(tree, LONGEST_VALUE)
        return summary(tree, say) if text is None or len(text) > LONGEST_VALUE else text
    return summary(tree, say)


def quoted(text: str, longest: int = LONGEST_TEXT) -> str:
    """A text in quotes and on one line; a long one loses its end.

    A mark that stands for all of it is no text: it has no quotes. Nor is one cut in the middle.
    """
    if len(text) > longest:
        end = longest - 3
        begun = text.find(MARK, end - _SPLIT, end + _SPLIT)
        if begun >= 0:
            end = begun + len(MARK)
        return f'"{text[:end].replace(_BREAK, _BROKEN)}..."'
    if text[:1] == "[" and (text == MARK or (text.startswith(CUT) and text.endswith("]"))):
        return text
    return f'"{text.replace(_BREAK, _BROKEN)}"'


def is_withheld(value: Any) -> bool:
    """Whether all that is left of a value is the mark of what was masked."""
    return type(value) is str and value == MARK


def count(number: int, noun: str) -> str:
    """`1 item`, `3 items`."""
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"


def _names_in(tree: dict[str, Any]) -> str:
    names = list(tree)
    if len(names) <= MOST_NAMES:
        return "{" + ", ".join(names) + "}"
    return "{" + ", ".join(names[:MOST_NAMES]) + f", ... ({len(names)} keys)}}"


def _scalar(value: Any) -> str:
    if value is UNDEFINED:
        return "undefined"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, BigInt):
        return f"{value}n"
    if isinstance(value, Date):
        return str(value)
    if isinstance(value, float):
        return number_text(value)
    return str(value)


def number_text(number: float) -> str:
    """A number as a flow shows it: `80`, not `80.0`."""
    if isinstance(number, NonFinite) or not math.isfinite(number):
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    if number == 0:
        return "-0" if math.copysign(1, number) < 0 else "0"
    return str(int(number)) if number == int(number) and abs(number) < 2**53 else repr(number)


def _json(tree: Any, budget: int) -> str | None:
    """JSON with a blank after colons and commas; None as soon as it is longer than `budget`."""
    tree = raw(tree)
    if isinstance(tree, str):
        return dumps(tree).decode("utf-8", "replace") if len(tree) <= budget else None
    if isinstance(tree, dict):
        items = [(f"{_json(name, budget)}: ", value) for name, value in tree.items()]
        return _joined("{", items, "}", budget)
    if isinstance(tree, list | tuple):
        return _joined("[", [("", value) for value in tree], "]", budget)
    return _scalar(tree)


def _joined(start: str, items: list[tuple[str, Any]], end: str, budget: int) -> str | None:
    parts: list[str] = []
    used = 2
    for label, value in items:
        text = _json(value, budget - used)
        used += len(label) + len(text or "") + 2
        if text is None or used > budget + 2:
            return None
        parts.append(label + text)
    return start + ", ".join(parts) + end


# ------------------------------------------------------------------ variables


@lru_cache(maxsize=1024)
def name_of(key: Key) -> str:
    """A key as an author writes it: `fee.total`, `items[0]`, `cargo.plan`, `userInput`."""
    scope, *path = key
    if scope == "input":
        return "userInput"
    if scope in ("cargo", "args") or not path:
        path = [scope, *path]
    return _path_text(path)


def _path_text(path: list[str | int]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def pairs(read: tuple[tuple[Key, Any], ...] | list[tuple[Key, Any]]) -> str:
    """`fee = 8, plan = "gold"`."""
    return ", ".join(f"{name_of(key)} = {brief(value)}" for key, value in read)


# ------------------------------------------------------------------ steps


def step_name(commit: Commit, node: Node | None) -> str:
    """A step as its author knows it: `CASE "check-fee"`; one without a name by where it stands."""
    name = node.name if node is not None and node.name else commit.node
    if name and not name.startswith("/"):
        return f'{commit.kind} "{name}"'
    where = commit.node if len(commit.node) <= LONGEST_TEXT else f"{commit.node[:77]}..."
    return f"{commit.kind} at {where}" if where else commit.kind


def step_of_flow(commit: Commit, node: Node | None) -> str:
    """A step and its flow: `CASE "check-fee" of Pay`."""
    return f"{step_name(commit, node)} of {commit.flow}"


def source_text(source: Any) -> str:
    """What an author wrote, short enough to quote: without the braces of a lone expression."""
    return _source_text(str(source))


@lru_cache(maxsize=1024)
def _source_text(source: str) -> str:
    text = " ".join(source.split())
    if text.startswith("{{") and text.endswith("}}") and text.count("{{") == 1:
        text = text[2:-2].strip()
    return f"`{text}`" if len(text) <= LONGEST_TEXT else f"`{text[: LONGEST_TEXT - 3]}...`"


def chosen_text(decision: Decision, say: Wording = ENGLISH) -> str:
    """Which branch was taken and what spoke for it: "`fee > 5` (fee = 8)"."""
    if decision.selected:
        return _and([quoted(name) for name in decision.selected], say)
    values = _one_value(decision.conditions)
    if values is not None:
        branch = say("default") if decision.default else quoted(decision.chosen)
        return say("as_value", branch=branch, values=values)
    held = next((rule for rule in _rules(decision) if all(each.result for each in rule)), None)
    if decision.default or held is None:
        return _by_default(decision, say)
    texts = _joint((source_text(each.text) for each in held), say)
    return (f"{quoted(held[0].label)}: " if held[0].label else "") + texts + _values(held)


def failed_texts(decision: Decision, say: Wording = ENGLISH) -> list[str]:
    """The rules that did not hold, each with its values; none where one value decided."""
    if decision.selected or _one_value(decision.conditions) is not None:
        return []
    failed = ([each for each in rule if not each.result] for rule in _rules(decision))
    return [_failed_text(rule, say) for rule in failed if rule]


def reads_in(conditions: Iterable[Condition]) -> list[tuple[Key, Any]]:
    """Everything that conditions and those inside them looked at, each key once."""
    found: dict[Key, Any] = {}
    for condition in conditions:
        found |= dict(condition.read)
        found |= dict(reads_in(condition.parts))
    return list(found.items())


def _rules(decision: Decision) -> list[list[Condition]]:
    """The conditions by rule: those of one rule must all hold; most rules have one."""
    rules: list[list[Condition]] = []
    for condition in decision.conditions:
        same = rules and condition.rule is not None and rules[-1][0].rule == condition.rule
        if same:
            rules[-1].append(condition)
        else:
            rules.append([condition])
    return rules


def _by_default(decision: Decision, say: Wording) -> str:
    named = decision.chosen not in ("default", "")
    text = quoted(decision.chosen) if named else say("default")
    if named and decision.default:
        text = say("by_default", branch=text)
    held_none = decision.default and decision.conditions
    return say("no_condition", branch=text) if held_none else text


def _one_value(tested: tuple[Condition, ...]) -> str | None:
    """`kind = "card"`, where all conditions compare one and the same value, as SWITCH does."""
    first = tested[0] if tested else None
    if first is None or len(first.read) != 1 or not first.text.endswith(f" is {first.branch}"):
        return None
    return pairs(first.read) if all(each.read == first.read for each in tested) else None


def _values(conditions: Iterable[Condition]) -> str:
    read = reads_in(conditions)
    return f" ({pairs(read)})" if read else ""


def _failed_text(rule: list[Condition], say: Wording) -> str:
    texts = _joint((source_text(each.text) for each in rule), say)
    errors = "; ".join(each.error for each in rule if each.error)
    if errors:
        return say("counts_as_false", rule=texts, errors=errors, values=_values(rule))
    phrase = "was_false" if len(rule) == 1 else "were_false"
    return say(phrase, rule=texts, values=_values(rule))


def _joint(parts: Iterable[str], say: Wording) -> str:
    text, *others = parts
    for other in others:
        text = say("and", first=text, second=other)
    return text


def _and(parts: list[str], say: Wording) -> str:
    if len(parts) > 3:
        return say("and_more", first=_joint(parts[:2], say), n=len(parts) - 2)
    return _joint(parts, say)


def call_text(name: str, args: Any, say: Wording = ENGLISH) -> str:
    """A call as it was made: `fee-for({"amount": 80})`."""
    tree = raw(args)
    if not tree:
        return f"{name}()"
    if isinstance(tree, list | tuple):
        return f"{name}({', '.join(brief(item, say) for item in tree)})"
    return f"{name}({brief(args, say)})"
