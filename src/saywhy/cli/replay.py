"""`saywhy replay`: run recorded conversations again and compare every step."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from saywhy.cli.options import AgentsOption, GlobalsOption, JsonFlag, StoreOption, store_to_read
from saywhy.cli.output import err, out
from saywhy.errors import CallerError, DamagedSession

if TYPE_CHECKING:
    from saywhy.runtime.engine import Engine
    from saywhy.runtime.replay.masked import Gap
    from saywhy.runtime.replay.result import Replay
    from saywhy.stores.store import Store

PAGE: Final = 100

FlowsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--flows",
        metavar="FILE",
        help="Run on the flows in this file in place of those on record; may be given again.",
    ),
]
OtherModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="With --flows: whom to ask where a request is another one, as `chat` takes it.",
    ),
]


def replay(
    session: Annotated[
        str | None,
        typer.Argument(metavar="SESSION", help="Which conversation; without it all of the store."),
    ] = None,
    flows: FlowsOption = None,
    model: OtherModelOption = None,
    agents: AgentsOption = None,
    globals: GlobalsOption = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="Of all, the first N by their ids.")
    ] = 1000,
    store: StoreOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Run conversations again and compare every step.

    They run from their record alone. Nothing is called and nothing is stored: tools, models,
    functions and times are answered from the record. The first difference is shown with its cause.
    The exit code is 1 where one differs; with --flows also where one could not be run to its end,
    for then nothing is proved of the rest.
    """
    import asyncio
    import json

    if model is not None and flows is None:
        raise CallerError(
            "--model is asked where other flows ask something else, and there are none",
            hint="add --flows FILE, or leave it out",
        )
    path = store_to_read(store, demo=False)
    found = asyncio.run(_replayed(path, session, flows, model, agents, globals, limit))
    if as_json:
        told: Any = found[0].to_json() if session is not None else _all_json(found)
        out().line(json.dumps(told, ensure_ascii=False))
    else:
        for one in found:
            out().line(one.text(), "green" if one.same else "red" if one.difference else "yellow")
        if session is None:
            out().line(_count(found))
            if len(found) == limit:
                err().line(f"these are the first {limit}: --limit says how many", "dim")
    say_what_to_hand_over([gap for one in found for gap in one.not_replayable], agents)
    if any(one.difference is not None or (flows and one.not_replayable) for one in found):
        raise typer.Exit(1)


def _all_json(found: list[Replay]) -> dict[str, Any]:
    return {"conversations": [one.to_json() for one in found], **_counted(found)}


def _counted(found: list[Replay]) -> dict[str, int]:
    return {
        "same": sum(one.outcome == "same" for one in found),
        "different": sum(one.outcome == "different" for one in found),
        "notReplayable": sum(one.outcome == "not replayable" for one in found),
    }


def _count(found: list[Replay]) -> str:
    from saywhy.trace.words import count

    counted = _counted(found)
    return (
        f"{count(len(found), 'conversation')}: {counted['same']} the same, "
        f"{counted['different']} different, {counted['notReplayable']} not replayable"
    )


def say_what_to_hand_over(gaps: Iterable[Gap], agents: str | None) -> None:
    """Where agents are missing that nobody named: how they are handed over."""
    from saywhy.runtime.replay.masked import NOT_HANDED_OVER

    if agents is None and any(gap.why == NOT_HANDED_OVER for gap in gaps):
        err().line("the agents are handed over with --agents FILE.py:NAME", "dim")


async def _replayed(
    path: Path,
    session: str | None,
    flows: list[Path] | None,
    model: str | None,
    agents: str | None,
    globals: Path | None,
    limit: int,
) -> list[Replay]:
    from saywhy.cli.conversation import BEGIN, EMPTY
    from saywhy.cli.given import load_asked
    from saywhy.flows.load import load_definitions
    from saywhy.stores.sqlite import SqliteStore

    found: list[Replay] = []
    for problem in load_definitions(list(flows or ())).problems:
        raise CallerError(problem.render())
    asked = None if model is None else load_asked(model)
    engines = Engines(SqliteStore(path, read_only=True), agents, globals)
    try:
        await engines.store.open()
        async for name in _names(engines.store, session, limit):
            engine = await engines.of(name)
            given = None if flows is None else [str(file) for file in flows]
            found.append(await engine.replay(name, flows=given, model=asked))
    finally:
        await engines.close()
    if not found:
        raise CallerError(EMPTY, hint=BEGIN)
    return found


async def _names(store: Store, session: str | None, limit: int) -> AsyncIterator[str]:
    if session is not None:
        yield session
        return
    after, left = "", limit
    while left and (rows := await store.sessions(limit=min(left, PAGE), after=after)):
        for row in rows:
            yield row.session_id
        left -= len(rows)
        after = rows[-1].session_id


class Engines:
    """Engines as conversations of a store ran on, one for each setting."""

    def __init__(self, store: Store, agents: str | None, globals: Path | None) -> None:
        self.store = store
        self._agents = agents
        self._globals = globals
        self._known: dict[str, Engine] = {}

    async def of(self, session: str) -> Engine:
        """The engine for a conversation. Raises `CallerError` where nobody knows how it was."""
        from saywhy.cli.conversation import find_session

        found = await find_session(self.store, session)
        digest = setting_in(found.doc)
        if digest not in self._known:
            document = await self.store.chart(digest) if digest else None
            if document is None:
                raise CallerError(
                    f"what {session} ran with is not in this store",
                    hint="it was begun by an older version: use engine.replay of the program",
                )
            self._known[digest] = engine = self._made(document)
            await self._as_stored(engine)
        return self._known[digest]

    async def _as_stored(self, engine: Engine) -> None:
        """Charts as they were kept: they know where in its file each step stood."""
        from saywhy.chart.model import Chart

        for chart in list(engine.charts):
            kept = await self.store.chart(chart.digest)
            if kept is not None:
                engine.charts.add(Chart.from_json(kept))

    def _made(self, document: bytes) -> Engine:
        from saywhy.cli.given import Given
        from saywhy.runtime.engine import Engine
        from saywhy.runtime.replay.setting import read_setting

        told = read_setting(document)
        given = Given.of(globals=self._globals, agents=self._agents, asks=False)
        options = dict(told["options"])
        if given.agents is None:
            options.pop("fallback_agent", None)
        return Engine(
            flows=told["flows"],
            tools=told["tools"],
            model=_never_asked if told["model"] else None,
            agents=given.agents,
            globals=given.globals,
            store=self.store,
            validate_on_init=False,
            **options,
        )

    async def close(self) -> None:
        """Close the store."""
        await self.store.close()


def setting_in(document: bytes | None) -> str:
    """The digest of what a stored conversation ran with; empty where it does not say."""
    from saywhy.cli.conversation import document_of
    from saywhy.runtime.replay.setting import NAME

    if document is None:
        return ""
    try:
        scopes = document_of(document).get("cursor", {}).get("state", {}).get("scopes", {})
        return str(scopes.get("session", {}).get(NAME, ""))
    except AttributeError as error:
        raise DamagedSession("its document holds no variables") from error


async def _never_asked(system: str, user: str) -> str:
    raise AssertionError("no model is asked when a conversation is run again")
