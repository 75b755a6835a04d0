"""The object a host holds: flows, tools, functions, and what runs conversations on them.

Nothing about a conversation lives here; one engine runs any number of them at once.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, get_args

from saywhy.chart.machine import Limits
from saywhy.chart.model import Charts
from saywhy.clock import Clock, SystemClock
from saywhy.errors import CallerError, DefinitionError
from saywhy.flows.commands import CommandWords
from saywhy.flows.compile import compile_flow
from saywhy.flows.corrections.chart import correction_chart
from saywhy.flows.detection import offered
from saywhy.flows.guidance import Guidance
from saywhy.flows.load import load_definitions
from saywhy.flows.model import Library
from saywhy.flows.phrases import Phrases
from saywhy.flows.steps import flow_language
from saywhy.flows.turn import routing_chart, routing_language
from saywhy.flows.world import Detection, ErrorText, Options, World
from saywhy.models.callback import provider_of
from saywhy.models.provider import Provider
from saywhy.runtime import held as holding
from saywhy.runtime.agents.hosted import Hosted, hosted_agents
from saywhy.runtime.asked import Asking
from saywhy.runtime.choices import (
    callables,
    can_offer,
    commands_of,
    milliseconds,
    must_be_texts,
    must_fit,
    one_of,
)
from saywhy.runtime.conversations import Conversations, TurnReply
from saywhy.runtime.deciding import Deciding
from saywhy.runtime.detecting import Detecting
from saywhy.runtime.diagnostics import Diagnostics
from saywhy.runtime.direct import call_directly
from saywhy.runtime.entry import Entry
from saywhy.runtime.expressions import IN_PROCESS, Expressions
from saywhy.runtime.forget.forgetting import Forgetting
from saywhy.runtime.held import HeldTurn
from saywhy.runtime.log import Log
from saywhy.runtime.models import Models
from saywhy.runtime.persistence import Persistence
from saywhy.runtime.private import kept_private
from saywhy.runtime.replay.replaying import Replaying, options_in
from saywhy.runtime.reporting import Reporting
from saywhy.runtime.session import Session
from saywhy.runtime.timers import Timing
from saywhy.runtime.turn import Machinery, NoJournal, TurnRun
from saywhy.runtime.watched import Watched
from saywhy.stores.store import LEASE_SECONDS, Store
from saywhy.tools.call import ToolAnswer
from saywhy.tools.http.client import HttpClient
from saywhy.tools.http.settings import HttpSettings
from saywhy.tools.known import Known
from saywhy.tools.limit import MemoryLimiter
from saywhy.tools.registry import Registry
from saywhy.tools.security import passed_one_time_code
from saywhy.tools.tool import tool_from_definition
from saywhy.trace.masking.redact import USUAL, Policy
from saywhy.trace.trace import Trace
from saywhy.values import FrozenDict, freeze

if TYPE_CHECKING:
    from saywhy.runtime.agents.agent import Agent
    from saywhy.runtime.agents.screen import OnEvent, Screen

Definitions = str | Path | Mapping[str, Any] | Sequence[Any] | None
"""Flows or tools: a list, `{"flows": […]}`, a path of a file, or a list of paths."""


class Engine(Asking, Replaying, Forgetting, Deciding, Detecting, Timing, Reporting, Watched):
    """Runs conversations written as flows.

    `flows` and `tools` are definitions or paths of files; `functions` are the approved functions
    that expressions and local tools may call; `globals` are read by all flows and written by none.
    With a `store`, `take_turn` keeps every conversation there; without one, `update_activity`
    takes and gives back the session.

    `model` finds the flow that words start, and more: a function `(system, user, schema, request)`
    that gives text, `async` or not, with two to four parameters, or a `Provider`; None: flows start
    by name or id. `intent_detection="two-stage"` looks for the flow first and then for its
    parameters.

    `agents` may be called by flows (`AGENT` steps), by their names, and may run flows as tools;
    `fallback_agent` names the one that answers what no flow fits.

    `logger` may be None (the logger `saywhy`), a `logging.Logger`, or any object with debug, info,
    warn and error. With `validate_on_init` the findings of `validate()` are logged; with `strict`
    errors among them raise `DefinitionError`. `language` is the default of conversations.
    `messages` replaces the library's sentences per language, `command_words` adds words that are
    commands, `guidance` says how questions tell the way out. With `offer_interruptions` the user is
    asked before another flow interrupts, with `clarify` which of two flows is meant where the
    model finds both as likely. `ai_timeout` is in milliseconds, 0 for none; so is
    `function_timeout`, which bounds each function that an expression calls. `inactivity` is how
    many milliseconds a user may be silent before the flows end as abandoned, 0 for as long as they
    like. `http` says what HTTP tools may reach, `is_authenticated` whether cargo shows that the
    user has signed in, where the host itself did not say so. With `expressions="isolated"`
    expressions are evaluated in processes of their own, `expression_workers` at most, which are
    killed when an evaluation takes longer than `expression_deadline_seconds`.

    Calls of tools are journaled in the store; `action_persistence="session-only"` does without, and
    `durable_actions` insists. `session_encoding="br-v1"` stores conversations compressed.
    """

    def __init__(
        self,
        *,
        flows: Definitions = None,
        tools: Definitions = None,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        globals: Mapping[str, Any] | None = None,
        logger: Any = None,
        model: Callable[..., Any] | Provider | None = None,
        agents: Agent | Sequence[Agent] | Mapping[str, Agent] | None = None,
        fallback_agent: str | None = None,
        intent_detection: str = "single-call",
        validate_on_init: bool = True,
        strict: bool = False,
        language: str | None = "en",
        ai_timeout: float = 2000,
        messages: Mapping[str, Mapping[str, str]] | None = None,
        guidance: Mapping[str, Any] | None = None,
        store: Store | None = None,
        lease_seconds: float = LEASE_SECONDS,
        action_persistence: str | None = None,
        durable_actions: bool = False,
        session_encoding: str = "plain",
        clock: Clock | None = None,
        redact: Policy = USUAL,
        max_steps: int = 1000,
        max_depth: int = 20,
        function_timeout: float = 5000,
        inactivity: float = 0,
        error_text: ErrorText = "hidden",
        keep_empty_says: bool = False,
        partial_match: str = "any",
        default_max_retries: int = 2,
        commands: Sequence[str] | bool = True,
        command_words: Mapping[str, Mapping[str, Any]] | None = None,
        offer_interruptions: bool = False,
        clarify: bool = False,
        validate_tool_returns: bool = False,
        log_tool_failures: bool = False,
        http: HttpSettings | HttpClient | None = None,
        is_authenticated: Callable[[dict[str, Any]], bool] | None = passed_one_time_code,
        expressions: str = IN_PROCESS,
        expression_workers: int | None = None,
        expression_deadline_seconds: float | None = None,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        """Long because each option stands here once, with its default."""
        must_fit(locals())
        self._options = options_in(locals())
        self._log = Log(logger)
        self.language, self.model = language, model
        self.ai_timeout = milliseconds("ai_timeout", ai_timeout)
        self._new_id, self._clock = new_id, clock or SystemClock()
        self.library: Library = load_definitions(flows, tools)
        self._globals: FrozenDict = freeze(dict(globals or {}), ("globals",))
        self._functions = callables(functions or {})
        self.diagnostics = Diagnostics(returns=validate_tool_returns, failures=log_tool_failures)
        hosted = self._hosted = hosted_agents(agents, fallback_agent, self.library)
        options = Options(
            one_of("error_text", error_text, get_args(ErrorText)),
            keep_empty_says,
            one_of("partial_match", partial_match, ("any", "safe")),
            default_max_retries,
            commands_of(commands),
            milliseconds("function_timeout", function_timeout),
            inactivity_ms=milliseconds("inactivity", inactivity),
            intent_detection=one_of("intent_detection", intent_detection, get_args(Detection)),
            offer_interruptions=can_offer(offer_interruptions, commands),
            clarify=clarify,
        )
        self._expressions = Expressions.of(
            expressions, expression_workers, expression_deadline_seconds
        )
        world = self._world(
            options, hosted, Phrases(messages), Guidance.of(guidance), CommandWords(command_words)
        )
        world, self._policy = kept_private(world, redact)
        self._machinery = self._assemble(
            world, hosted, store, Limits(max_steps, max_depth), http, is_authenticated
        )
        kept = Persistence.of(action_persistence, durable_actions, session_encoding, store)
        self._conversations = self._kept(store, lease_seconds, kept)
        self._report_findings(validate_on_init, strict)

    # ------------------------------------------------------------ making

    def _world(
        self,
        options: Options,
        hosted: Hosted,
        phrases: Phrases,
        guidance: Guidance,
        words: CommandWords,
    ) -> World:
        # The first of two flows with one name counts, and `Charts` keeps the last.
        charts = Charts(
            compile_flow(flow) for flow in reversed(self.library.flows) if flow.name or flow.id
        )
        return World(
            charts,
            self.library.flows,
            self._registry(hosted),
            self._functions,
            self._globals,
            phrases,
            guidance,
            self.language or "en",
            self._expressions.placement,
            options,
            words,
            offered=offered(self.library.flows),
            has_model=self.model is not None,
            agents=hosted.names,
            fallback=hosted.fallback,
            detects_language=not self.language,
        )

    def _kept(
        self, store: Store | None, lease_seconds: float, persistence: Persistence
    ) -> Conversations | None:
        if isinstance(store, str | Path):
            raise CallerError("store is a store, not a path", hint=f'SqliteStore("{store}")')
        if store is None:
            return None
        told = (self._machinery, store, self._policy, lease_seconds, persistence, self._setting)
        return Conversations(*told)

    def _assemble(
        self,
        world: World,
        hosted: Hosted,
        store: Store | None,
        limits: Limits,
        http: HttpSettings | HttpClient | None,
        is_authenticated: Callable[[dict[str, Any]], bool] | None,
    ) -> Machinery:
        machinery = Machinery(
            world,
            hosted.joined(flow_language(world)),
            routing_chart(),
            routing_language(world),
            world.charts,
            self._clock,
            store or MemoryLimiter(self._clock),
            limits,
            self._log.warn,
            self._log.error,
            self._log.debug,
            self.diagnostics.warnings,
            http=http if isinstance(http, HttpClient) else HttpClient(http),
            is_authenticated=is_authenticated,
            apart=self._expressions.apart,
            agents=hosted.stages,
            models=Models(provider_of(self.model), self.ai_timeout)
            if self.model is not None
            else None,
        )
        world.charts.add(machinery.routing)
        world.charts.add(correction_chart())
        for chart in hosted.charts:
            world.charts.add_behind(chart)  # an agent may have the name of a flow
        return machinery

    def _registry(self, hosted: Hosted) -> Registry:
        """The tools that can be read, and those of agents; what is wrong with the others is in
        `validate()`."""
        tools: dict[str, Any] = {}
        for definition in self.library.tools:
            try:
                tool = tool_from_definition(definition.raw, definition.place, definition.function)
            except DefinitionError:
                continue
            tools.setdefault(tool.id, tool)
        for tool in hosted.tools:
            tools.setdefault(tool.id, tool)
        return Registry(tools.values())

    @property
    def tools(self) -> Registry:
        """The tools that can be called."""
        return self._machinery.world.tools

    @property
    def charts(self) -> Charts:
        """The flows in the form they run in."""
        return self._machinery.charts

    @property
    def store(self) -> Store | None:
        """Where conversations are kept, if anywhere."""
        return self._conversations.store if self._conversations else None

    # ------------------------------------------------------------ without a store

    def init_session(
        self, user_id: str, session_id: str | None = None, language: str | None = None
    ) -> Session:
        """A new conversation. Without an id it gets a random one; the language is the engine's
        unless given. Raises `CallerError` for what is no text."""
        must_be_texts(user_id=user_id, session_id=session_id, language=language)
        return Session(
            session_id or self._new_id(),
            user_id or "",
            language or self.language,
            self._machinery.charts,
            self._clock.now(),
        )

    def load_session(self, data: bytes | str) -> Session:
        """The session behind `Session.to_json`. Raises `DamagedSession`."""
        return Session.from_json(data, self._machinery.charts, self._log.warn)

    async def update_activity(
        self,
        entry: str | Mapping[str, Any],
        session: Session,
        *,
        on_event: OnEvent | None = None,
    ) -> Session:
        """Run one turn and give the session after it; the one handed in stays as it was.

        `entry` is text, or `{role, content, timestamp?, metadata?, start?}`. Nothing is stored:
        after a crash in mid-turn the host cannot know which tools were called, and a turn that is
        played again calls them again; use `take_turn` on a store for that. A call that timed out
        rests in the session until `settle` says what became of it. `on_event` is told what agents
        do, as it happens. Raises `FlowExecutionError` (with the repaired session as `.session`),
        `CallerError` for an entry that cannot be read, `UnknownFlow`, `DamagedSession`.
        """
        given = Entry.of(entry)
        given.check_start(self._machinery.charts)
        _must_be_session(session)
        session.check(self._machinery.charts)
        twin = session.copy()
        if on_event is None:
            return await self._played(given, twin, None)
        from saywhy.runtime.agents.screen import shown  # loaded where somebody looks on

        played = partial(self._played, given, twin)
        return await shown(on_event, given.text, played, lambda after: after.response)

    async def _played(self, given: Entry, twin: Session, screen: Screen | None) -> Session:
        machinery = self._machinery if screen is None else screen.over(self._machinery)
        with machinery.watchers.recording(self._policy, twin) as recorder:
            run = TurnRun(machinery, twin, recorder, NoJournal())
            if given.role == "assistant":
                run.note_assistant(given)
            else:
                await run.take(given)
        twin.version += 1
        return twin

    # ------------------------------------------------------------ on a store

    async def take_turn(
        self,
        session_id: str,
        entry: str | Mapping[str, Any],
        *,
        message_id: str | None = None,
        user_id: str = "",
        cargo: Mapping[str, Any] | None = None,
        language: str | None = None,
        authenticated: bool | None = None,
        wait_seconds: float = 30.0,
        on_event: OnEvent | None = None,
    ) -> TurnReply:
        """Run one turn of a stored conversation, which begins with its first message.

        The same `message_id` again gives the stored reply and does nothing. `cargo` is merged into
        the session's before the turn. `authenticated` says whether the user has signed in, and
        holds until it is said otherwise. Turns of one conversation run one after the other; where
        another worker holds it for longer than `wait_seconds`, `SessionBusy` is raised and the
        message is processed later all the same. `on_event` is told what agents do, as it happens.
        Raises what `update_activity` raises; the turn is then recorded as failed, and the
        conversation goes on.
        """
        given = Entry.of(entry, cargo, language, authenticated)
        given.check_start(self._machinery.charts)
        take = partial(
            self._stored.take_turn,
            session_id,
            given,
            message_id=message_id or self._new_id(),
            user_id=user_id,
            wait_seconds=wait_seconds,
        )
        if on_event is None:
            return await take()
        from saywhy.runtime.agents.screen import shown  # loaded where somebody looks on

        return await shown(
            on_event, given.text, lambda screen: take(screen=screen), lambda reply: reply.response
        )

    async def session(self, session_id: str) -> Session | None:
        """A stored conversation as its last turn left it; None when there is none."""
        return await self._stored.session(session_id)

    async def recover(self, session_id: str | None = None) -> int:
        """Run the turns that a crash left unfinished; gives how many there were.

        One that cannot go on here is held, and looked at again the next time.
        """
        return await self._stored.recover(session_id)

    async def held(self, session_id: str | None = None) -> list[HeldTurn]:
        """Turns that stand still because what they ran on is missing or different here."""
        return await holding.held_turns(self._stored.store, session_id)

    async def release_held(self, session_id: str, *, by: str = "") -> int:
        """Let the held turn of a conversation go on in spite of what differs; gives how many ran.

        Raises `TurnHeld` where something is missing altogether, `CallerError` if none is held.
        """
        return await self._stored.release_held(session_id, by)

    async def abandon_held(self, session_id: str, *, by: str = "", why: str = "") -> HeldTurn:
        """End the held turn of a conversation without a reply; its calls stay on record."""
        return await holding.abandon(self._stored.store, session_id, by=by, why=why)

    async def prune(self, *, older_than_days: float, limit: int = 1000) -> int:
        """Take from the store what only explains turns that ended longer ago; gives how many turns.

        Conversations go on as before, and a message that comes again is still recognised. `why` of
        such a turn is no longer answered. At most `limit` turns a call.
        """
        return await self._stored.store.prune(older_than_days * 86400, limit)

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        user_id: str = "",
        key: str = "",
        known: Known | None = None,
    ) -> ToolAnswer:
        """Call a tool outside every conversation; what went wrong is in the answer.

        It takes the path that flows' calls take, with limits and checks, but nothing is journaled,
        and one that has to be approved is not made. `key` is the idempotency key. Parameters with
        `x-known` take what is in `known`; with None the program vouches for all it hands over.
        """
        return await call_directly(
            self._machinery, name, arguments, user_id=user_id, key=key, known=known
        )

    async def trace(self, of: str | Session) -> Trace:
        """What was recorded of a conversation: a stored one by its id, or a session.

        Raises `UnknownSession` for an id that no conversation in the store has.
        """
        if isinstance(of, Session):
            return of.trace
        return await self._stored.trace(of)

    @property
    def _stored(self) -> Conversations:
        if self._conversations is None:
            raise CallerError(
                "this engine has no store", hint="Engine(..., store=SqliteStore(path))"
            )
        return self._conversations

    async def __aenter__(self) -> Self:
        if self._conversations is not None:
            await self._conversations.store.open()
        return self

    async def __aexit__(self, *ignored: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close what is open: the store, connections of HTTP tools, processes of expressions."""
        self._expressions.close()
        await self._close_parts()
        if self._conversations is not None:
            await self._conversations.close()


def _must_be_session(given: object) -> None:
    if not isinstance(given, Session):
        hint = "begin with init_session, go on with what a turn returned"
        raise CallerError(f"a session is wanted, not {type(given).__name__}", hint=hint)
