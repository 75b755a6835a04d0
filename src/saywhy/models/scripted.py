"""A model whose answers are written down beforehand: for tests, examples and demos."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self, cast, get_args

from saywhy.clock import Clock, SystemClock
from saywhy.errors import CallerError, ModelError, ModelErrorCode, did_you_mean
from saywhy.models import looking
from saywhy.models.provider import (
    Ask,
    Piece,
    StopPiece,
    StopReason,
    TextPiece,
    ThinkingPiece,
    ToolCallPiece,
    UsagePiece,
)
from saywhy.values import dumps, freeze, thaw

KEYS: Final = frozenset(
    {
        *("for", "when", "reply", "chunks", "thinking", "tool_calls"),
        *("usage", "model", "finish_reason"),
        *("delay_ms", "raise", "code", "retry_after", "hang", "cut"),
    }
)
CALL_KEYS: Final = ("id", "name", "arguments", "raw")
CODES: Final[tuple[str, ...]] = get_args(ModelErrorCode)
STOPS: Final[tuple[str, ...]] = get_args(StopReason)
_EXAMPLE: Final = '[{"for": "detect_flow", "reply": {"flowName": "Pay", "parameters": {}}}]'
_CALL_EXAMPLE: Final = '"tool_calls": [{"name": "weather", "arguments": {"place": "Rome"}}]'
_ANSWERS: Final = ("reply", "chunks", "thinking", "tool_calls")
_ENDS: Final = ("raise", "hang", "cut")


class ScriptedModel:
    """Answers from a script; keeps what it was asked in `asked`.

    The script is a list of `{"for": task, "reply": text or object}`, or with `"raise": message`
    (and `code`, `retry_after` seconds), and perhaps `"delay_ms"`. Each question takes the first
    entry nobody took yet whose `for` is its task, or that has none; an object is given as JSON
    text. Where none is left it raises `ModelError`, as a model would that cannot be reached.

    An entry with `when` is a rule: it answers every question in which those texts stand, as often
    as it is asked, where no entry before it answers. So a request with a piece less may get
    another answer.

    Beside or in place of `reply` stand `tool_calls`, `thinking`, `usage`, `model` and
    `finish_reason`. `chunks`, a list of texts, is a reply that comes piece by piece; what follows
    it may go wrong: `raise`, `"hang": true` (until it is cancelled) or `"cut": true` (the stream
    just ends).
    """

    def __init__(self, script: Sequence[Mapping[str, Any]], clock: Clock | None = None) -> None:
        if isinstance(script, Mapping | str):
            kind = type(script).__name__
            raise CallerError(f"the model's script is a list, not {kind}", hint=_EXAMPLE)
        self._left: Final = [_checked(number, entry) for number, entry in enumerate(script)]
        self._clock: Final = clock or SystemClock()
        self._calls = 0
        self._took: Final[Counter[str]] = Counter()
        """By task, how many entries without `for` it took."""
        self.asked: Final[list[Ask]] = []

    @classmethod
    def from_file(cls, path: str | Path, clock: Clock | None = None) -> Self:
        """A model with the script in a JSON file. Raises `CallerError` where there is none."""
        try:
            script: Any = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise CallerError(f"{path} cannot be read: {error.strerror}") from error
        except (ValueError, RecursionError) as error:  # nested deeper than Python can read
            raise CallerError(f"{path} is no JSON: {error}", hint=_EXAMPLE) from error
        if not isinstance(script, list):
            kind = type(script).__name__
            raise CallerError(f"{path}: the model's script is a list, not {kind}", hint=_EXAMPLE)
        try:
            return cls(cast("list[Any]", script), clock)
        except CallerError as error:
            raise CallerError(f"{path}: {error}", hint=error.hint) from None

    @property
    def tasks(self) -> list[str]:
        """The tasks of all questions so far, in order."""
        return [ask.task for ask in self.asked]

    @property
    def left(self) -> int:
        """How many answers nobody has asked for yet. Rules do not count: they stay."""
        return sum("when" not in entry for entry in self._left)

    async def ask(self, ask: Ask) -> AsyncGenerator[Piece, None]:
        """The next answer for this task."""
        entry = self._take(ask)
        if entry.get("delay_ms"):
            await self._clock.sleep(entry["delay_ms"] / 1000)
        for piece in self._said(entry):
            yield piece
        if entry.get("hang"):
            await asyncio.Event().wait()
        if "raise" in entry:
            raise ModelError(
                str(entry["raise"]),
                code=entry.get("code", "unknown"),
                retry_after=entry.get("retry_after"),
            )
        if not entry.get("cut"):
            usual = "tool_calls" if entry.get("tool_calls") else "stop"
            yield StopPiece(entry.get("finish_reason", usual), entry.get("model", ""))

    def _take(self, ask: Ask) -> dict[str, Any]:
        self.asked.append(ask)
        entry = next((one for one in self._left if _fits(one, ask)), None)
        if entry is None:
            raise ModelError(_none_left(self._left, self._took, ask.task))
        if "when" not in entry:
            self._left.remove(entry)
            self._took.update([ask.task] if "for" not in entry else ())
        return entry

    def _said(self, entry: Mapping[str, Any]) -> Iterator[Piece]:
        if entry.get("thinking"):
            yield ThinkingPiece(entry["thinking"])
        if "reply" in entry:
            reply = entry["reply"]
            yield TextPiece(reply if isinstance(reply, str) else dumps(freeze(reply)).decode())
        for chunk in entry.get("chunks", ()):
            yield TextPiece(chunk)
        for call in entry.get("tool_calls", ()):
            self._calls += 1
            call_id = call.get("id") or f"call-{self._calls}"
            arguments = thaw(call.get("arguments") or {})
            yield ToolCallPiece(call_id, call["name"], arguments, call.get("raw", ""))
        usage = entry.get("usage")
        if usage:
            yield UsagePiece(usage.get("input_tokens", 0), usage.get("output_tokens", 0))


def _fits(entry: Mapping[str, Any], ask: Ask) -> bool:
    if entry.get("for", ask.task) != ask.task:
        return False
    return "when" not in entry or looking.holds(entry["when"], ask)


def _none_left(entries: Sequence[Mapping[str, Any]], took: Mapping[str, int], task: str) -> str:
    """Why nothing answers: other tasks, rules that want something else in the request, or somebody
    else who was asked before and took what was for everybody."""
    others = ", ".join(dict.fromkeys(str(one["for"]) for one in entries if "for" in one))
    left = f"; those left are for {others}" if others else ""
    rules = sum(one.get("for", task) == task for one in entries)
    unmet = f"; {rules} with a when that does not hold" if rules else ""
    others = ", ".join(f"{one} took {number}" for one, number in took.items() if one != task)
    taken = f'; of those without a "for", {others}' if others else ""
    return f"the script of the model has no answer left for {task}{left}{unmet}{taken}"


# ------------------------------------------------------------------ checking


def _checked(number: int, entry: Any) -> dict[str, Any]:
    """A copy of an entry. Raises `CallerError` for what can never be answered."""
    where = f"entry {number} of the model's script"
    if not isinstance(entry, Mapping):
        raise CallerError(f"{where} is an object, not {type(entry).__name__}", hint=_EXAMPLE)
    known: dict[str, Any] = {str(key): value for key, value in entry.items()}
    unknown = sorted(known.keys() - KEYS)
    if unknown:
        raise CallerError(
            f'{where} has an unknown key "{unknown[0]}"',
            hint=did_you_mean(unknown[0], sorted(KEYS)) or f"known: {', '.join(sorted(KEYS))}",
        )
    if problem := _problem(known):
        raise CallerError(f"{where} {problem[0]}", hint=problem[1])
    return known


def _problem(entry: Mapping[str, Any]) -> tuple[str, str] | None:
    """What is wrong with an entry, and what to write."""
    answers = [key for key in _ANSWERS if key in entry]
    ends = [key for key in _ENDS if key in entry]
    if not (answers or ends) or ("reply" in entry and ends):
        return "needs either reply or raise", _EXAMPLE
    if "reply" in entry and "chunks" in entry:
        return "has reply and chunks", "chunks are a reply in pieces: leave one of them out"
    if "when" in entry and (wrong := looking.problem_of(entry["when"])):
        return wrong
    if len(ends) > 1:
        return f"has {ends[0]} and {ends[1]}", "a call goes wrong in one way only"
    return _misshapen(entry)


def _misshapen(entry: Mapping[str, Any]) -> tuple[str, str] | None:
    chunks = entry.get("chunks", ())
    if isinstance(chunks, str) or not all(isinstance(one, str) for one in chunks):
        return "has chunks that are no list of texts", '"chunks": ["Hel", "lo"]'
    calls = entry.get("tool_calls", ())
    if isinstance(calls, str | Mapping) or not all(map(_is_call, calls)):
        return "has tool_calls that are no list of calls", _CALL_EXAMPLE
    unknown = [str(key) for call in calls for key in call if key not in CALL_KEYS]
    if unknown:
        return (
            f'has a tool call with the unknown key "{unknown[0]}"',
            did_you_mean(unknown[0], CALL_KEYS) or _CALL_EXAMPLE,
        )
    if not isinstance(entry.get("usage", {}), Mapping):
        return "has a usage that is no object", '"usage": {"input_tokens": 10, "output_tokens": 20}'
    for key, words in (("code", CODES), ("finish_reason", STOPS)):
        if entry.get(key, words[0]) not in words:
            return f"has the unknown {key} {entry[key]!r}", f"one of {', '.join(words)}"
    return None


def _is_call(call: Any) -> bool:
    return (
        isinstance(call, Mapping)
        and isinstance(call.get("name"), str)
        and isinstance(call.get("arguments", {}), Mapping)
    )
