"""The first stage of a loop: the conversation so far, the user's words, the counters.

A strict follow-up that the words ask for is carried out here, before any model is called, through
the same calls as all others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from saywhy.agent.instructions.follow_up import ResolvedFollowUp, resolved_runtime
from saywhy.agent.instructions.pending import attempt, pending_from
from saywhy.agent.instructions.subflow import matched_text
from saywhy.agent.loop.calls import Asks, ToolCalls, latency_of
from saywhy.agent.loop.config import SUBFLOW_MESSAGE_KEY, AgentLoopConfig, AgentLoopSeedOptions
from saywhy.agent.loop.history import closed, has_system
from saywhy.agent.loop.state import (
    EMPTY,
    append,
    facts,
    frozen_messages,
    given,
    look,
    write,
)
from saywhy.agent.tools import AgentTool
from saywhy.chart.outcome import Answer
from saywhy.models.chat import assistant_message, text_of, user_message
from saywhy.values import FrozenDict, FrozenList, freeze, raw

AUTO: Final = "auto-strict-"
"""Calls that are made without the model are called so, and numbered."""


class Seeding:
    """The two halves of the stage; the second takes what a strict follow-up came to."""

    def __init__(
        self, config: AgentLoopConfig, options: AgentLoopSeedOptions, calls: ToolCalls
    ) -> None:
        self.config = config
        self.options = options
        self.calls = calls

    def first(self, s: Any) -> Asks | None:
        """Write what a run begins with."""
        config = self.config
        self.calls.strict = None
        messages = self._history(s)
        message = given(s, SUBFLOW_MESSAGE_KEY, "")
        if message:
            messages = messages.appended(raw(freeze(user_message(message))))
        said = text_of(message) if message else _last_words(messages)
        s.emit("turn_start", {"user_message": said})
        write(s, "messages", messages)
        s.userMessage = said
        s.looseSystem = config.store is not None or has_system(messages)
        s.turnNumber = int(given(s, "turnNumber", 1))
        s.loopCount = 0
        s.calls = 0
        s.maxIterations = config.max_iterations
        if config.instructions:
            write(s, "decision", freeze(dict(config.decision), ("decision",)))
        write(s, "settings", freeze(dict(config.settings), ("settings",)))
        if config.streaming:
            s.streaming = True
        self._name(s)
        return self._strict(s, said)

    def second(self, s: Any, answer: Answer) -> Asks | None:
        """Put what the follow-up came to behind its call."""
        call: Any = raw(look(s, "strictCall"))
        made = self.calls.after(s, call, answer)
        if isinstance(made, Asks):
            return made
        append(s, "messages", self.calls.settle(s, call, made, latency_of(answer)))
        return None

    # ------------------------------------------------------------ parts

    def _history(self, s: Any) -> FrozenList:
        """The conversation so far. With a store it begins with what is stored, loaded later.

        Behind that come the `unfinished` messages of a run that never ended.
        """
        if self.config.store is not None:
            return closed(frozen_messages(given(s, "unfinished", EMPTY)))
        own = given(s, "history")
        messages = frozen_messages(self.options.messages if own is None else own)
        return closed(messages)

    def _name(self, s: Any) -> None:
        """The run's id, under which receipts are made; without one there are none."""
        run_id = given(s, "runId")
        if not run_id and self.config.get_run_id is not None:
            run_id = self.config.get_run_id()
        if run_id:
            s.runId = str(run_id)

    def _strict(self, s: Any, said: str) -> Asks | None:
        follow_up = self._due(s, said)
        if follow_up is None:
            return None
        if self.config.instructions:
            self._activate(s)
        if not isinstance(self.calls.found(s, follow_up.tool_id), AgentTool):
            facts(s)["strictTarget"] = f"{follow_up.tool_id} is not known"
            return None
        number = int(given(s, "strictCalls", 0)) + 1
        call: dict[str, Any] = {
            "id": f"{AUTO}{number}",
            "name": follow_up.tool_id,
            "arguments": follow_up.params.raw,
        }
        words = assistant_message(f"Using {follow_up.description}.", [call])
        append(s, "messages", words)
        s.strictCalls = number
        write(s, "strictCall", FrozenDict(call))
        made = self.calls.begin(s, call)
        if isinstance(made, Asks):
            return made
        append(s, "messages", self.calls.settle(s, call, made))
        return None

    def _due(self, s: Any, said: str) -> ResolvedFollowUp | None:
        """The follow-up to carry out now: one that was asked for, or one that the words fit."""
        own = given(s, "followUp")
        if own is not None:
            return resolved_runtime(own)
        waiting = given(s, "pending")
        s.strictCalls = int(given(s, "strictCalls", 0))
        if waiting is None:
            return None
        pending = pending_from(waiting, self._rules())
        made = attempt(pending, said, self.config.matcher)
        facts(s)["strict"] = made.to_value()
        return pending.follow_up if made.matched else None

    def _rules(self) -> list[Any]:
        """Every rule a pending follow-up may come from."""
        box = self.calls.box
        own = [rule for tool in box.registry for rule in box.rules_of(tool)]
        brought = [
            rule
            for one in self.config.instructions
            for tool in one.tools
            for rule in getattr(tool, "instructions", ())
        ]
        return [*own, *box.book.all_rules, *brought]

    def _activate(self, s: Any) -> None:
        """What is active before the first round, for a call that is made before it."""
        book = self.calls.box.book
        result = book.evaluate(look(s, "decision"))
        s.responseRules = book.rule_names_of(result)
        s.activeInstructions = book.names_of(result)
        s.matchedInstructions = matched_text(result.matched_ids)


def _last_words(messages: FrozenList) -> str:
    if not len(messages):
        return ""
    last: Mapping[str, Any] = messages.raw[-1]
    return text_of(last.get("content")) if last.get("role") == "user" else ""
