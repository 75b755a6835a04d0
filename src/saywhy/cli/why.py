"""`saywhy why`: why something was said, or why a variable has its value."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from saywhy.cli.options import (
    AgentsOption,
    GlobalsOption,
    JsonFlag,
    SessionOption,
    StoreOption,
    store_to_read,
)
from saywhy.cli.output import out
from saywhy.errors import CallerError

if TYPE_CHECKING:
    from saywhy.trace.causes.chain import Chain
    from saywhy.trace.causes.why import Target

AskedOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="With --without: whom to ask where a request is another one, as `chat` takes it.",
    ),
]


TurnOption = Annotated[
    int | None,
    typer.Option("--turn", metavar="N", help="The reply of this turn; else of the last one."),
]
VariableOption = Annotated[
    str | None,
    typer.Option("--variable", metavar="NAME", help="Not a reply but a variable, `fee.total`."),
]
PartOption = Annotated[
    str | None,
    typer.Option("--part", metavar="TEXT", help="Only of what says this in the reply."),
]
ArgumentOption = Annotated[
    str | None,
    typer.Option(
        "--argument", metavar="TOOL.NAME", help="An argument of the newest call of a tool."
    ),
]
DecisionOption = Annotated[
    str | None,
    typer.Option("--decision", metavar="FLOW/STEP", help="Why a step chose its branch."),
]
ErrorFlag = Annotated[bool, typer.Option("--error", help="The newest thing that went wrong.")]
MissingOption = Annotated[
    str | None,
    typer.Option(
        "--missing",
        metavar="NAME",
        help="What is not there: reply, a variable that is unset, a tool that was not called.",
    ),
]
FirstOption = Annotated[
    int | None,
    typer.Option(
        "--first", metavar="N", min=1, help="Only the N likeliest causes, the best first."
    ),
]
FileOption = Annotated[
    Path | None,
    typer.Option(
        "--file", metavar="TRACE", help="A trace file, as `export` writes it, and no store."
    ),
]
WithoutOption = Annotated[
    str | None,
    typer.Option(
        "--without",
        metavar="REF",
        help="Run the turn again without this, as --refs names it: instruction:ID, "
        "tool_result:N, message:N, memory:ID and others.",
    ),
]
RefsFlag = Annotated[
    bool, typer.Option("--refs", help="Also list the names that --without takes, with what it is.")
]


def why(
    session: SessionOption = None,
    turn: TurnOption = None,
    variable: VariableOption = None,
    part: PartOption = None,
    argument: ArgumentOption = None,
    decision: DecisionOption = None,
    error: ErrorFlag = False,
    missing: MissingOption = None,
    first: FirstOption = None,
    file: FileOption = None,
    refs: RefsFlag = False,
    without: WithoutOption = None,
    model: AskedOption = None,
    agents: AgentsOption = None,
    globals: GlobalsOption = None,
    store: StoreOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Say why a reply was given.

    The answer names the steps, conditions, tool results and words that led to it. Without --session
    it is the newest conversation. Nothing is run again, unless --without asks what the reply would
    have been; even then no tool is called.
    """
    import asyncio

    if without is not None:
        from saywhy.cli.without import Asked, show_without

        if file is not None:
            raise CallerError(
                "--without runs a turn again, and a trace file has not what it ran with",
                hint="ask the store that it came from: --store and --session, without --file",
            )
        asked = Asked(model=model, agents=agents, globals=globals)
        show_without(store_to_read(store), session, turn, without, as_json=as_json, **asked)
        return
    if model is not None or agents is not None or globals is not None:
        raise CallerError(
            "--model, --agents and --globals are what a turn runs with, and nothing is run here",
            hint="add --without REF, or leave them out",
        )
    from saywhy.cli.asking import answered, in_file, recorded

    wanted = Wanted(turn, part, variable, argument, decision, missing, error=error)
    if file is not None:
        name, trace = str(file), in_file(file, session, store)
        session = name
    else:
        name, trace = asyncio.run(recorded(store_to_read(store), session))
    chain = trace.why(wanted.target())

    def text() -> str:
        told = chain.text(out().width) if first is None else chain.first_text(first)
        return "\n".join([told, *_removable(chain)]) if refs else told

    answered(name, chain, text, as_json=as_json, named=session is not None)


def _removable(chain: Chain) -> list[str]:
    """What the turn can be run again without, of all that is in a chain."""
    from saywhy.runtime.replay.removal import KINDS

    found: dict[str, str] = {}
    for cause in chain.causes:
        for name in cause.names:
            kind = name.partition(":")[0]
            if kind in KINDS and (kind != "tool" or name == cause.ref):  # a result is of any tool
                found.setdefault(name, cause.sentence)
    if not found:
        return ["nothing of this can be taken away with --without"]
    longest = max(map(len, found))
    return ["--without takes:", *(f"  {name:<{longest}}  {text}" for name, text in found.items())]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the options ask about: one thing at a time."""

    turn: int | None = None
    part: str | None = None
    variable: str | None = None
    argument: str | None = None
    decision: str | None = None
    missing: str | None = None
    _: KW_ONLY
    error: bool = False

    def target(self) -> Target:
        """The target of `why`. Raises `CallerError` where several things are asked about."""
        from saywhy.trace.causes.why import Failure, Reply, Variable, target_of

        named = {
            "--part": self.part,
            "--variable": self.variable,
            "--argument": self.argument,
            "--decision": self.decision,
            "--missing": self.missing,
            "--error": self.error or None,
        }
        given = [name for name, value in named.items() if value is not None]
        if len(given) > 1:
            raise CallerError(
                f"{' and '.join(given)} ask about different things", hint="ask one after the other"
            )
        if "" in named.values():
            raise CallerError(
                f"{given[0]} is empty: what it asks about is not said",
                hint="saywhy why --help tells what it takes",
            )
        if self.variable is not None:
            return Variable(self.variable, self.turn)
        if self.error:
            return Failure(self.turn)
        for kind in ("argument", "decision", "missing"):
            name = getattr(self, kind)
            if name is not None:
                return target_of(f"{kind}:{name}", self.turn)
        return Reply(self.turn, self.part)


def explain(store: Path, session: str, width: int = 100) -> str:
    """Why the last reply of a conversation was given, as text."""
    import asyncio

    from saywhy.cli.asking import recorded

    _, trace = asyncio.run(recorded(store, session))
    return trace.why().text(width)
