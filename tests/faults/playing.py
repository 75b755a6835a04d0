"""Plays a case: the dialogue from its first words to its last, and what was recorded of it.

Numbers of commits and messages are not known to who writes a case. So a case says which call it
means (`tool_result:stock#2`, the second answer of that tool; `message:#3`, the user's third
message; `model:desk#1`, `truncation:desk#1`), and `named` puts the number in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from saywhy import Engine, MemoryStore, Trace
from saywhy.chart.commit import Commit
from saywhy.testing import FakeClock
from tests.faults.application import START_MS, agent_of, engine_of
from tests.faults.case import Case

SESSION = "case"
_CALL = re.compile(r"(tool_result|message|model|truncation):([^#]*)#(\d+)")


@dataclass
class Played:
    """A dialogue that was had."""

    replies: list[str] = field(default_factory=list[str])
    trace: Trace = field(default_factory=lambda: Trace([]))
    engine: Engine | None = None
    agent: Any = None
    """The conversation of an agent that stands alone."""

    async def close(self) -> None:
        """Nothing is asked any more."""
        if self.engine is not None:
            await self.engine.__aexit__(None, None, None)


async def play(case: Case, *, repaired: bool = False) -> Played:
    """Have the dialogue, with the fault or without it. The engine is left open for questions."""
    return await had(case.repaired() if repaired else case.application)


async def had(application: Mapping[str, Any]) -> Played:
    """The dialogue of an application."""
    if "alone" in application:
        return await _with_agent(application)
    return await _with_engine(application)


async def _with_agent(application: Mapping[str, Any]) -> Played:
    talk = agent_of(application["alone"], application, FakeClock(START_MS)).conversation(SESSION)
    played = Played(agent=talk)
    for words in application["turns"]:
        result = await talk.run(words)
        played.replies.append(result.content)
    played.trace = talk.trace
    return played


async def _with_engine(application: Mapping[str, Any]) -> Played:
    engine = engine_of(application, MemoryStore())
    await engine.__aenter__()
    played = Played(engine=engine)
    now = START_MS
    cargo = application.get("cargo")
    for turn in application["turns"]:
        entry = {"content": turn} if isinstance(turn, str) else dict(turn)
        cargo = {**(cargo or {}), **entry.pop("cargo", {})}
        now += entry.pop("silent_ms", 0) + 1000
        if "content" not in entry and "start" not in entry:
            entry["role"] = "timer"
        reply = await engine.take_turn(
            SESSION,
            {"role": "user", "timestamp": now, **entry},
            user_id="user",
            cargo=cargo or None,
            language=application.get("language"),
        )
        played.replies.append(reply.response or "")
        cargo = None
    played.trace = await engine.trace(SESSION)
    return played


# ------------------------------------------------------------------ what is asked


def turn_of(case: Case, played: Played) -> int:
    """The turn that is asked about: the newest one with a reply, unless the case says another."""
    newest = max(at for at, reply in enumerate(played.replies, 1) if reply)
    return int(case.asked.get("turn", newest))


def shown(case: Case, played: Played) -> Any:
    """The reply that the case asks about, or the value of its variable."""
    turn = turn_of(case, played)
    if "variable" not in case.asked:
        return played.replies[turn - 1]
    trace = played.trace
    until = trace.end_of(turn)
    return trace.value_at(trace.key(case.asked["variable"], until), until).value


def is_(case: Case, played: Played, wanted: Any) -> bool:
    """Whether the reply that is asked about has a text, or the variable is a value."""
    found = shown(case, played)
    return bool(found == wanted) if "variable" in case.asked else str(wanted) in found


# ------------------------------------------------------------------ names


def named(ref: str, trace: Trace) -> str:
    """The name with the number that a call or a message has in this record."""
    found = _CALL.fullmatch(ref)
    if found is None:
        return ref
    kind, name, number = found[1], found[2], int(found[3])
    if kind == "message":
        said = [message.seq for message in trace.messages() if message.role == "user"]
        return f"message:{said[number - 1]}"
    wanted = "tool" if kind == "tool_result" else "model"
    calls = [one.seq for one in trace if _answers(one, wanted, name, trace)]
    assert len(calls) >= number, f"{ref}: {len(calls)} such calls are on record"
    return f"{kind}:{calls[number - 1]}"


def _answers(commit: Commit, kind: str, name: str, trace: Trace) -> bool:
    answer = commit.answered
    if answer is None or answer.kind != kind:
        return False
    return name in (answer.name, commit.flow)
