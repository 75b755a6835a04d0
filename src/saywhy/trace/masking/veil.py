"""What is left of a commit, or of a part of it, that holds something sensitive.

Kept is what tells how the step went and nothing of what it was about: names of arguments, which
tool, how many tokens, whether there was anything at all, what was chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from saywhy.chart.commit import Answered, Asked, Condition, Decision, FunctionCall
from saywhy.trace.masking.declared import Spot
from saywhy.trace.masking.places import index_of, inner
from saywhy.values import UNDEFINED, FrozenDict, FrozenList, freeze, get_path, raw, set_path

_ROLES = ["role", "type", "id", "name", "model", "tool", "names", "since"]
_STRUCTURE: Final = frozenset([*_ROLES, "stop_reason", "stopReason", "finish_reason"])
"""Names in what a model is asked and answers that say nothing of what it is about."""
CALL: Final = frozenset(["id", "name", "arguments"])
"""The fields of a call that a model wants. Which tool, and which call it is, is nobody's secret."""
_USAGE = ["usage", "tokens", "tokens_in", "tokens_out", "latencyMs", "took_ms"]
_COUNTED: Final = frozenset([*_USAGE, "iteration"])
_CONTENT: Final = frozenset(["args", "arguments", "input", "content", "text", "value", "system"])
_SPOKEN: Final = ("error", "message", "note", "hint", "failureReason", "text", "reason")
_HANDED: Final = ("arguments", "arguments_after", "to_approve", "args", "value", "after")
_NESTED: Final = ("failure", "audit", "decided", "transaction", "silence")
_JUDGED: Final = frozenset(["tool_id", "latency_ms", "iteration"])
"""What a rule's condition may have read that says how a call went, not what it was about."""


def veil(value: Any, mark: str) -> Any:
    """A value without what it says: nothing stays nothing, all else is one mark."""
    return value if value is None or value is UNDEFINED or value == "" else mark


def veil_at(value: Any, spots: tuple[Spot, ...], mark: str) -> Any:
    """A value without what stands at some paths in it; lists on the way count with every item."""
    for spot in spots:
        value = _at(value, spot, mark)
    return value


def _at(value: Any, spot: Spot, mark: str) -> Any:
    if not spot:
        return veil(value, mark)
    inside = raw(value)
    if isinstance(inside, list | tuple):
        at = index_of(spot[0])
        if at is None:
            return FrozenList([raw(_at(item, spot, mark)) for item in inside])
        told = [
            raw(_at(item, spot[1:], mark)) if i == at else item for i, item in enumerate(inside)
        ]
        return FrozenList(told)
    if isinstance(inside, Mapping) and spot[0] in inside:
        found = get_path(value, spot[:1])
        return set_path(freeze(value), spot[:1], freeze(_at(found, spot[1:], mark)))
    return value


def veil_but(value: Any, spots: tuple[Spot, ...], mark: str) -> Any:
    """A value of which only what stands at some paths in it is kept, and the names around that."""
    if () in spots:
        return value
    inside = raw(value)
    if spots and isinstance(inside, list | tuple):
        return FrozenList([raw(veil_but(item, spots, mark)) for item in inside])
    if not spots or not isinstance(inside, Mapping):
        return veil(value, mark)
    return FrozenDict(
        {name: raw(veil_but(one, inner(spots, name), mark)) for name, one in inside.items()}
    )


def veil_named(value: Any, clean: frozenset[str], mark: str) -> Any:
    """An object of named values, each veiled but for those that are clean."""
    inside = raw(value)
    if not isinstance(inside, Mapping):
        return veil(value, mark)
    return FrozenDict(
        {name: one if name in clean else veil(one, mark) for name, one in inside.items()}
    )


def veil_talk(value: Any, mark: str) -> Any:
    """What a model was asked or answered: who and how much, without any words."""
    inside = raw(value)
    if isinstance(inside, Mapping):
        return FrozenDict({name: _talk(name, one, mark) for name, one in inside.items()})
    if isinstance(inside, list | tuple):
        return FrozenList([raw(veil_talk(one, mark)) for one in inside])
    return veil(value, mark)


def _talk(name: str, value: Any, mark: str) -> Any:
    if name in _COUNTED or (name in _STRUCTURE and isinstance(value, str | int)):
        return value
    if name not in _CONTENT and isinstance(value, dict | list | FrozenDict | FrozenList):
        return raw(veil_talk(value, mark))
    return veil(value, mark)


def wanted_in(value: Any) -> Iterator[tuple[str, Any]]:
    """The calls in what a model said: which tool, with which arguments."""
    inside = raw(value)
    if isinstance(inside, Mapping):
        if inside.keys() >= CALL and isinstance(inside["name"], str):
            yield inside["name"], inside["arguments"]
        else:
            for one in inside.values():
                yield from wanted_in(one)
    elif isinstance(inside, list | tuple):
        for one in inside:
            yield from wanted_in(one)


def veil_wanted(value: Any, spots: Mapping[str, tuple[Spot, ...]], mark: str) -> Any:
    """The same without what tools declare of arguments; `value` itself where that is nothing."""
    if not any(name in spots for name, _ in wanted_in(value)):
        return value
    inside = raw(value)
    if isinstance(inside, list | tuple):
        return FrozenList([raw(veil_wanted(one, spots, mark)) for one in inside])
    if inside.keys() >= CALL:
        args = veil_at(inside["arguments"], spots[inside["name"]], mark)
        return FrozenDict({**inside, "arguments": raw(args), **_unread(inside, mark)})
    return FrozenDict({name: raw(veil_wanted(one, spots, mark)) for name, one in inside.items()})


def _unread(call: Mapping[str, Any], mark: str) -> dict[str, Any]:
    """What a model wrote in place of arguments that nobody could read."""
    return {"raw": veil(call["raw"], mark)} if "raw" in call else {}


def veil_asked(asked: Asked, clean: frozenset[str], mark: str) -> Asked:
    """What was asked for, without the sensitive part of what was handed over."""
    args = asked.args
    if asked.kind == "model":
        args = veil_talk(args, mark)
    elif asked.kind in ("tool", "reconcile"):
        args = veil_named(args, clean, mark)
    else:
        args = FrozenDict(veil_facts(args.raw, mark)) if isinstance(args, FrozenDict) else args
    return msgspec.structs.replace(asked, args=args)


def veil_answered(answered: Answered, mark: str, harmless: tuple[Spot, ...] = ()) -> Answered:
    """What came back, without what it says but at some harmless places."""
    talk = answered.kind == "model"
    value = veil_talk(answered.value, mark) if talk else veil_but(answered.value, harmless, mark)
    return msgspec.structs.replace(
        answered,
        value=value,
        error=veil(answered.error, mark),
        facts=veil_facts(answered.facts, mark),
    )


def is_refused(answered: Answered) -> bool:
    """Whether a call was never made, so that what is said of it is the engine's own sentence."""
    return bool(answered.facts.get("refused")) and not answered.facts.get("attempts")


def veil_facts(facts: Mapping[str, Any], mark: str) -> dict[str, Any]:
    """The facts of a step without values and sentences."""
    told: dict[str, Any] = {}
    for name, fact in facts.items():
        if name in _HANDED or name in _SPOKEN:
            told[name] = veil(fact, mark)
        elif name in _NESTED and isinstance(fact, Mapping):
            told[name] = veil_facts(fact, mark)  # pyright: ignore[reportUnknownArgumentType]
        else:
            told[name] = _evidence(fact, mark)
    return told


def _evidence(fact: Any, mark: str) -> Any:
    """A fact without what the conditions of rules read in it, and what rules decided by that."""
    inside = raw(fact)
    if isinstance(inside, list | tuple):
        return [_evidence(one, mark) for one in inside]
    if not isinstance(inside, Mapping):
        return fact
    told: dict[str, Any] = {}
    for name, one in inside.items():
        if name == "read" and isinstance(one, list | tuple):
            told[name] = [_look(look, mark) for look in one]
        elif name == "changes" and isinstance(one, Mapping):
            told[name] = {field: veil(value, mark) for field, value in one.items()}
        elif name == "error" and isinstance(one, str):
            told[name] = veil(one, mark)
        else:
            told[name] = _evidence(one, mark)
    return told


def _look(look: Any, mark: str) -> Any:
    """A path that a condition read, and the mark in place of what stood there."""
    if not isinstance(look, list | tuple) or len(look) != 2:
        return veil(look, mark)
    path, value = look
    root = str(path).partition(".")[0]
    return [path, value if root in _JUDGED else veil(value, mark)]


def veil_call(call: FunctionCall, mark: str) -> FunctionCall:
    """A function that was called: how often and with how many arguments stays."""
    args = raw(call.args)
    hidden = FrozenList([mark] * len(args)) if isinstance(args, list | tuple) else mark
    return msgspec.structs.replace(
        call,
        args=hidden,
        value=veil(call.value, mark),
        error=veil(call.error, mark),
        after=veil(call.after, mark),
    )


def veil_decision(decision: Decision, is_sensitive: Any, mark: str) -> Decision:
    """What was chosen stays, and what held; the sensitive values that were read do not."""
    conditions = tuple(_condition(one, is_sensitive, mark) for one in decision.conditions)
    return msgspec.structs.replace(decision, conditions=conditions)


def _condition(condition: Condition, is_sensitive: Any, mark: str) -> Condition:
    return msgspec.structs.replace(
        condition,
        read=tuple((k, veil(v, mark) if is_sensitive(k) else v) for k, v in condition.read),
        error=veil(condition.error, mark),
        parts=tuple(_condition(one, is_sensitive, mark) for one in condition.parts),
    )
