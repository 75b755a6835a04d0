"""Runs scenarios: conversations with what must come of them. The format flow authors test with.

Each scenario gets a new engine and a new session. Waiting takes no time: pauses, time limits and
slow functions run on a clock that jumps, unless functions of the program's own take part. How a
file becomes scenarios is answered by `scenario_file`, what is compared by `expectations`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Final

from saywhy.clock import Clock, SystemClock
from saywhy.errors import DefinitionError, Place, SaywhyError
from saywhy.flows.load import load_files
from saywhy.library.named import is_library
from saywhy.models.scripted import ScriptedModel
from saywhy.runtime.engine import Engine
from saywhy.runtime.session import Session
from saywhy.testing.clock import FakeClock
from saywhy.testing.expectations import Failure, Observed, failures_in
from saywhy.testing.scenario_decision import decide
from saywhy.testing.scenario_file import (
    Scenario,
    Turn,
    find_scenario_files,
    load_scenario,
    load_scenarios,
)
from saywhy.testing.scenario_functions import function_from_data
from saywhy.testing.stub_client import StubClient
from saywhy.testing.stub_server import StubServer

__all__ = [
    "Failure",
    "Result",
    "Scenario",
    "World",
    "find_scenario_files",
    "load_scenario",
    "load_scenarios",
    "run_scenario",
]

USER: Final = "user-1"
BASE: Final = "{{BASE}}"


@dataclass(frozen=True, slots=True)
class World:
    """What a program hands over to every scenario; a scenario's own things go before these."""

    functions: Mapping[str, Callable[..., Any]] | None = None
    globals: Mapping[str, Any] | None = None
    cargo: Mapping[str, Any] | None = None
    expressions: str = "in-process"
    """Where expressions are evaluated, as an engine is told it."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a scenario. `not_run` says why it could not be played at all; it failed then."""

    id: str
    tags: tuple[str, ...]
    passed: bool
    failures: tuple[Failure, ...] = ()
    not_run: str = ""
    quirk: str = ""
    place: Place = field(default_factory=Place)
    """Where the scenario stands."""


async def run_scenario(scenario: Scenario, world: World | None = None) -> Result:
    """Play a scenario to its end and say what came out otherwise than expected.

    It goes on after a difference and after a turn that raised: one run shows all that is wrong.
    """
    failures: list[Failure] = []
    not_run = ""
    try:
        failures = await _play(scenario, world or World())
    except SaywhyError as error:
        not_run = _one_text(error)
        failures = [Failure(0, "scenario", "a run", not_run)]
    return Result(
        scenario.id,
        scenario.tags,
        not failures,
        tuple(failures),
        not_run,
        scenario.quirk,
        scenario.place,
    )


async def _play(scenario: Scenario, world: World) -> list[Failure]:
    """What came out otherwise. Raises `SaywhyError` when nothing can be played at all."""
    named = (name for turn in scenario.turns for name in turn.headers())
    headers = tuple(dict.fromkeys((*scenario.record_headers, *named)))
    web: AbstractContextManager[StubServer | None] = (
        StubServer(scenario.http, headers) if _uses_web(scenario) else nullcontext()
    )
    with web as stub:
        player = _Player(scenario, world, stub)
        try:
            return await player.play()
        finally:
            await player.engine.close()


def _uses_web(scenario: Scenario) -> bool:
    tools = [tool for tool in scenario.tools if isinstance(tool, Mapping)]
    kinds = [(tool.get("implementation") or {}).get("type") for tool in tools]
    return bool(scenario.http) or "http" in kinds


def _one_text(error: SaywhyError) -> str:
    return f"{error}\n    {error.hint}" if error.hint else str(error)


class _Player:
    """One scenario being played."""

    def __init__(self, scenario: Scenario, world: World, web: StubServer | None) -> None:
        self.scenario = scenario
        self.web = web
        # Functions of the program's own may wait for the world outside, which no clock can jump.
        self.clock: Clock = SystemClock() if world.functions or web else _clock_of_today()
        self.model = None if scenario.ai is None else ScriptedModel(scenario.ai, self.clock)
        self.engine = self._engine(world)
        self.session = self.engine.init_session(USER, language=scenario.language)
        self.session.cargo.update(copy.deepcopy({**(world.cargo or {}), **scenario.cargo}))

    def _engine(self, world: World) -> Engine:
        scenario = self.scenario
        options = scenario.engine
        own = {
            name: function_from_data(name, spec, self.clock)
            for name, spec in scenario.functions.items()
        }
        files = [str(file) for file in scenario.files]
        unreadable = [one for one in load_files(files).problems if one.severity == "error"]
        if unreadable:
            raise DefinitionError(unreadable)
        return Engine(
            flows=[*files, *scenario.flows],
            tools=[
                *(file for file in files if is_library(file)),
                *(self._with_base(tool) for tool in scenario.tools),
            ],
            functions={**_standard(scenario), **(world.functions or {}), **own},
            globals={**(world.globals or {}), **scenario.globals},
            model=self.model,
            agents=[one.agent(self.clock) for one in scenario.agents] or None,
            fallback_agent=scenario.fallback_agent,
            intent_detection=options.get("intent_detection") or "single-call",
            validate_on_init=False,
            language=scenario.language,
            ai_timeout=options.get("ai_timeout_ms", 2000),
            messages=options.get("messages"),
            guidance=options.get("guidance"),
            commands=not options.get("disable_commands", False),
            command_words=options.get("command_words"),
            offer_interruptions=options.get("offer_interruptions", False),
            clarify=options.get("clarify", False),
            inactivity=options.get("inactivity_ms", 0),
            clock=self.clock,
            http=StubClient(self.web.base if self.web else ""),
            logger=_Silent(),
            expressions=world.expressions,
        )

    def _with_base(self, tree: Any) -> Any:
        """The tools with the web server's address put in."""
        if isinstance(tree, str):
            return tree.replace(BASE, self.web.base) if self.web else tree
        if isinstance(tree, list):
            return [self._with_base(item) for item in tree]
        if isinstance(tree, Mapping):
            return {key: self._with_base(item) for key, item in tree.items()}
        return tree

    async def play(self) -> list[Failure]:
        """Take all turns in order."""
        failures: list[Failure] = []
        for number, turn in enumerate(self.scenario.turns, start=1):
            seen = await self._take(turn)
            failures += (
                replace(one, place=turn.place_of(one.key))
                for one in failures_in(number, turn.expect, seen)
            )
        return failures

    async def _take(self, turn: Turn) -> Observed:
        self.session.cargo.update(copy.deepcopy(dict(turn.set_cargo)))
        if turn.wait_ms:
            await self.clock.sleep(turn.wait_ms / 1000)
        asked = len(self.model.asked) if self.model else 0
        error: Exception | None = None
        response: str | None = None
        try:
            if turn.roundtrip:
                self.session = self.engine.load_session(self.session.to_json())
            if turn.authenticated is not None:
                self.session.authenticated = turn.authenticated
            if turn.silence_ms:
                response = await self._keep_silent(turn.silence_ms)
            elif turn.decision:
                self.session = await decide(self.engine, self.session, turn.decision)
                response = self.session.response
            else:
                self.session = await self.engine.update_activity(turn.entry(), self.session)
                response = self.session.response
        except Exception as raised:
            error = raised
            repaired = getattr(raised, "session", None)
            self.session = repaired if isinstance(repaired, Session) else self.session
        http = self.web.take_requests() if self.web else []
        calls = self.model.tasks[asked:] if self.model else []
        return Observed(self.session, response, error, http, calls)

    async def _keep_silent(self, left_ms: float) -> str | None:
        """Let time pass and take what falls due in it; gives all that was said meanwhile.

        A clock that cannot jump stands still, and the moments come at once.
        """
        told: list[str] = []
        now = self.clock.now()
        until = now + left_ms
        while (due := self.session.due_at) is not None and due <= until:
            await self._pass(due - now)
            now = max(now, due)
            entry = {"role": "timer", "timestamp": now}
            self.session = await self.engine.update_activity(entry, self.session)
            told += [self.session.response] if self.session.response else []
        await self._pass(until - now)
        return "\n\n".join(told) or None

    async def _pass(self, ms: float) -> None:
        if isinstance(self.clock, FakeClock):
            await self.clock.sleep(ms / 1000)


def _standard(scenario: Scenario) -> Mapping[str, Callable[..., Any]]:
    if not scenario.standard_functions:
        return {}
    from saywhy.helpers import STANDARD_FUNCTIONS

    return STANDARD_FUNCTIONS


def _clock_of_today() -> FakeClock:
    return FakeClock(SystemClock().now())


class _Silent:
    """A logger for conversations whose warnings are part of what is shown."""

    def debug(self, text: str) -> None:
        """Nothing."""

    info = warn = error = debug
