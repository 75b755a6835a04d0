"""`saywhy chat`: a conversation in the terminal, or line by line over pipes.

The conversation is kept in a store, so it goes on where it was after the program ended, however it
ended. This file finds the conversation; how words come and go is answered by `talk` and `terminal`.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from saywhy.cli.options import (
    AgentsOption,
    CargoOption,
    ExpressionsOption,
    FallbackOption,
    Files,
    FunctionsOption,
    GlobalsOption,
    ModelOption,
    PrivateOption,
    SessionOption,
    StoreOption,
    Where,
    check_is_text,
    store_path,
)
from saywhy.cli.output import STYLES, err
from saywhy.errors import CallerError, DefinitionError, Place, Problem

if TYPE_CHECKING:
    import asyncio

    from saywhy.cli.conversation import Conversation
    from saywhy.cli.given import Given
    from saywhy.runtime.engine import Engine

USER = "user"
MODEL_MS = 30_000
"""Whoever types has more patience than a program: a model on the same machine is slow at first."""


def chat(
    files: Files,
    session: SessionOption = None,
    new: Annotated[bool, typer.Option("--new", help="Begin a new conversation.")] = False,
    user: Annotated[str, typer.Option("--user", metavar="ID", help="Who is talking.")] = USER,
    language: Annotated[
        str | None, typer.Option("--lang", metavar="XX", help="The user's language, like `es`.")
    ] = None,
    store: StoreOption = None,
    functions: FunctionsOption = None,
    model: ModelOption = None,
    agents: AgentsOption = None,
    fallback_agent: FallbackOption = None,
    globals: GlobalsOption = None,
    cargo: CargoOption = None,
    guidance: Annotated[
        bool, typer.Option("--guidance/--no-guidance", help="Questions tell the way out, or not.")
    ] = True,
    expressions: ExpressionsOption = Where.IN_PROCESS,
    private: PrivateOption = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Messages and replies as JSON, one a line.")
    ] = False,
) -> None:
    """Talk to flows.

    At a terminal you type, and /why, /help and /quit alone on a line are commands; elsewhere each
    line of standard input is a message, whatever it is, and its reply is written as text. Without
    --session the newest conversation goes on if a flow of it is still open; otherwise a new one
    begins.
    """
    import asyncio

    from saywhy.cli.given import Given
    from saywhy.cli.interrupts import woken_by_signals

    given = Given.of(functions, globals, cargo, model, agents)
    _check_named(user, session, language)
    path = store_path(store)
    engine = engine_of(
        files,
        given,
        path,
        guidance=guidance,
        expressions=expressions,
        private=private or (),
        fallback_agent=fallback_agent,
    )
    with (
        asyncio.Runner() as runner,
        woken_by_signals(runner),
        _let_go(runner, given.model),
        opened(runner, engine),
    ):
        conversation = runner.run(
            _conversation(engine, session, new=new, user=user, language=language, given=given)
        )
        talk(runner, conversation, path, as_json=as_json)


@contextmanager
def _let_go(runner: asyncio.Runner, model: Any) -> Generator[None, None, None]:
    """Close the connections of a model that was named on the command line, and so is ours."""
    try:
        yield
    finally:
        close = getattr(model, "close", None)
        if close is not None and type(model).__module__.startswith("saywhy.models."):
            runner.run(close())


def _check_named(user: str, session: str | None, language: str | None) -> None:
    """Raise `CallerError` for ids that are no text, and for a name such as `spanish`, which no text
    of a flow is kept under."""
    from saywhy.flows.check import declared

    check_is_text("--user", user)
    check_is_text("--session", session or "")
    if language:
        declared([language])


def engine_of(
    files: Sequence[Path],
    given: Given,
    path: Path,
    *,
    guidance: bool,
    expressions: str = "in-process",
    private: Sequence[str] = (),
    tools_alone: bool = False,
    language: str | None = "en",
    fallback_agent: str | None = None,
) -> Engine:
    """An engine on these files and a store in a file, after saying what is wrong with the flows.

    Raises `DefinitionError` when a file cannot be read or there is no flow in any; `tools_alone`
    takes files with tools instead.
    """
    from saywhy.cli.check import write_problem
    from saywhy.cli.conversation import LEASE_SECONDS
    from saywhy.library.named import is_library
    from saywhy.runtime.engine import Engine
    from saywhy.runtime.validation import report_of
    from saywhy.stores.sqlite import SqliteStore
    from saywhy.tools.http.settings import HttpSettings
    from saywhy.trace.words import count

    engine = Engine(
        flows=[str(file) for file in files],
        tools=[str(file) for file in files if is_library(file)],
        functions=given.functions,
        globals=given.globals,
        model=given.model,
        agents=given.agents,
        fallback_agent=fallback_agent,
        ai_timeout=MODEL_MS,
        guidance={"enabled": guidance},
        language=language,
        logger=_Warnings(),
        validate_on_init=False,
        store=SqliteStore(path),
        lease_seconds=LEASE_SECONDS,
        expressions=expressions,
        http=HttpSettings(allow_private=tuple(private)),
    )
    library = engine.library
    # Not engine.validate(): what was not handed over here, a program may well hand over.
    known: dict[str, Any] = {"cargo": given.cargo, "agents": given.agent_names}
    report = report_of(library, given.functions, given.globals, **known)
    useful = {one.place.file for one in (*library.flows, *library.tools)}
    something = library.flows or (tools_alone and library.tools)
    if not something or any(one.place.file not in useful for one in report.errors):
        raise DefinitionError(report.errors or _no_flow(files))
    for problem in report.errors:
        write_problem(problem, err())
    if report.errors:
        err().line("the conversation can begin; a step with an error fails or does nothing")
    if report.warnings:
        warnings = count(len(report.warnings), "warning")
        err().line(f"{warnings}; saywhy check shows what", STYLES["warning"])
    return engine


def _no_flow(files: Sequence[Path]) -> Sequence[Problem]:
    hint = "write a list of flows"
    return [Problem("there is no flow in this file", Place(str(file)), hint) for file in files]


@contextmanager
def opened(runner: asyncio.Runner, engine: Engine) -> Generator[None]:
    """The engine with its store open."""
    runner.run(engine.__aenter__())
    try:
        yield
    finally:
        runner.run(engine.__aexit__(None, None, None))


async def _conversation(
    engine: Engine,
    session_id: str | None,
    *,
    new: bool,
    user: str,
    language: str | None,
    given: Given,
) -> Conversation:
    from saywhy.cli.conversation import Conversation, new_id, store_of

    if new and session_id is not None and await store_of(engine).session(session_id):
        hint = "leave out --new to go on with it, or choose another id"
        raise CallerError(f'there is a conversation "{session_id}" already', hint=hint)
    chosen = session_id or ("" if new else await _open_one(engine, user)) or new_id()
    return Conversation(engine, chosen, user, language, given.cargo)


async def _open_one(engine: Engine, user: str) -> str:
    """The user's newest conversation, if a flow of it that these files know is open."""
    from saywhy.cli.conversation import all_sessions, newest, store_of
    from saywhy.flows.agents.fallback import ASKING, FALLBACK
    from saywhy.flows.agents.places import flows_among

    stored = newest(await all_sessions(store_of(engine), user))
    if stored is None:
        return ""
    if stored.running:
        return stored.session_id
    session = await engine.session(stored.session_id)
    known = {flow.name for flow in engine.library.flows} | {ASKING, FALLBACK}
    frames = flows_among(engine.charts, session.cursor.frames) if session else []
    return stored.session_id if frames and all(one.name in known for one in frames) else ""


def talk(
    runner: asyncio.Runner, conversation: Conversation, path: Path, *, as_json: bool = False
) -> None:
    """Go on with a conversation until the words end. Ctrl-C and Ctrl-D leave it."""
    from saywhy.cli import talk as lines

    resumed = runner.run(conversation.resume())
    try:
        if as_json:
            lines.json_lines(runner, conversation, resumed)
        elif sys.stdin.isatty() and sys.stdout.isatty():
            from saywhy.cli import terminal

            terminal.talk(runner, conversation, path, resumed)
        else:
            lines.text_lines(runner, conversation, path, resumed)
    except KeyboardInterrupt:
        err().line(f"left; the conversation {conversation.id} is kept in {path}")


class _Warnings:
    """What the engine warns about, on standard error."""

    def debug(self, text: str) -> None:
        """Nothing."""

    info = debug

    def warn(self, text: str) -> None:
        """A line."""
        err().line(f"warning: {text}", STYLES["warning"])

    def error(self, text: str) -> None:
        """A line."""
        err().line(f"error: {text}", STYLES["error"])
