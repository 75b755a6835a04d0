"""What the commands that list calls and decide about them have in common."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from saywhy.cli.options import Where, existing_store, store_to_read
from saywhy.cli.output import err, out
from saywhy.errors import CallerError

if TYPE_CHECKING:
    from saywhy.runtime.conversations import TurnReply
    from saywhy.runtime.engine import Engine

Decide = Callable[["Engine", bool], Awaitable["TurnReply | None"]]
"""Decides with an engine; the flag says whether the conversation goes on at once."""

SessionArgument = Annotated[str, typer.Argument(metavar="SESSION", help="The conversation.")]
FlowFiles = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="FILES",
        help="Files with flows and tools: the conversation goes on at once, else at its next turn.",
        show_default=False,
    ),
]
ByOption = Annotated[
    str, typer.Option("--by", metavar="NAME", help="Who decides; is put on record.")
]


@dataclass(frozen=True, slots=True)
class GoingOn:
    """With what a conversation goes on at once: nothing of it, where no files are named."""

    files: Sequence[Path] | None
    functions: str | None
    globals: Path | None
    expressions: Where
    private: Sequence[str] | None
    agents: str | None = None

    def engine(self, store: Path) -> Engine:
        """An engine on a store. Raises `CallerError` for options that need files and have none."""
        from saywhy.cli.chat import engine_of
        from saywhy.cli.given import Given
        from saywhy.runtime.engine import Engine
        from saywhy.stores.sqlite import SqliteStore

        if self.files:
            return engine_of(
                self.files,
                Given.of(self.functions, self.globals, agents=self.agents),
                store,
                guidance=True,
                expressions=self.expressions,
                private=self.private or (),
            )
        useless = {
            "--functions": self.functions,
            "--globals": self.globals,
            "--agents": self.agents,
            "--expressions": self.expressions is not Where.IN_PROCESS,
            "--allow-private": self.private,
        }
        for option, given in useless.items():
            if given:
                raise CallerError(f"{option} goes with FILES", hint="name the flow files too")
        return Engine(validate_on_init=False, store=SqliteStore(store))


def listed(
    store: Path | None, find: Callable[[Engine], Awaitable[list[dict[str, Any]]]]
) -> list[dict[str, Any]]:
    """What is open in a store."""
    import asyncio

    from saywhy.runtime.engine import Engine
    from saywhy.stores.sqlite import SqliteStore

    async def run() -> list[dict[str, Any]]:
        kept = SqliteStore(store_to_read(store, demo=False), read_only=True)
        async with Engine(validate_on_init=False, store=kept) as engine:
            return await find(engine)

    return asyncio.run(run())


def write_list(
    found: Sequence[Mapping[str, Any]],
    describe: Callable[[Mapping[str, Any]], str],
    *,
    nothing: str,
    as_json: bool,
) -> None:
    """Show what is open, for people or for programs."""
    from saywhy.values import dumps

    if as_json:
        out().line(dumps(list(found)).decode())
        return
    for one in found:
        out().line(describe(one))
    if not found:
        out().line(nothing)


def decide(store: Path | None, going_on: GoingOn, work: Decide) -> None:
    """Decide, and say how the conversation goes on."""
    import asyncio

    engine = going_on.engine(existing_store(store))

    async def run() -> TurnReply | None:
        async with engine:
            return await work(engine, bool(going_on.files))

    reply = asyncio.run(run())
    if reply is None:
        err().line("noted; the conversation goes on with its next turn")
        return
    out().line(reply.response or "(nothing was said)")


def moment(milliseconds: float) -> str:
    """A moment in the local time of whoever reads."""
    from datetime import datetime

    local = datetime.fromtimestamp(milliseconds / 1000).astimezone()
    return local.isoformat(timespec="seconds")


def call_text(one: Mapping[str, Any]) -> str:
    """`Charge({"amount": 5}) in Pay`."""
    from saywhy.trace.words import call_text as text

    return f"{text(one['tool'], one['args'])} in {one['flow']}"


def whose(one: Mapping[str, Any]) -> str:
    """The conversation and its user."""
    user = f" of {one['userId']}" if one["userId"] else ""
    return f"{one['sessionId']}{user}, turn {one['turn']}"


def noted_lines(one: Mapping[str, Any]) -> list[str]:
    """The line that says somebody decided already, where somebody did."""
    if "decided" not in one:
        return []
    word = one["decided"]
    who = f" by {word['by']}" if word.get("by") else ""
    how = word["how"].replace("_", " ")
    return [f"    decided{who} at {moment(word['at'])}: {how}; waits for the next turn"]
