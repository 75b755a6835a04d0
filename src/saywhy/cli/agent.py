"""`saywhy agent`: talk to an agent, and ask it why.

This file has the options; which agent is meant is `agents.found`, how words come and go
`agents.lines` and `agents.shown`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from saywhy.cli.output import err
from saywhy.errors import CallerError

if TYPE_CHECKING:
    import asyncio

    from saywhy.cli.agents.lines import Lines
    from saywhy.cli.agents.talk import Talk


AgentArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE.py:NAME",
        help="An Agent, a call of a model, another runner, or a function that makes one; NAME is "
        "`agent` unless given.",
    ),
]
MessageOption = Annotated[
    str | None, typer.Option("--message", metavar="TEXT", help="Say this only, and end.")
]
AskedOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="Ask this model instead of the agent's: openai:NAME, anthropic:NAME, google:NAME, "
        "scripted:FILE.json, or FILE.py:NAME for a function or provider.",
    ),
]
ScriptOption = Annotated[
    Path | None,
    typer.Option(
        "--script", metavar="FILE", help="Take the model's answers from this file, offline."
    ),
]
KeptOption = Annotated[
    Path | None,
    typer.Option(
        "--session",
        metavar="FILE",
        help="Keep the conversation in this file, questions to a person included.",
    ),
]
VerboseFlag = Annotated[
    bool, typer.Option("--verbose", help="Show the calls of tools and what they gave.")
]
JsonFlag = Annotated[
    bool,
    typer.Option("--json", help="Write events and results as JSON, one a line; read JSON too."),
]


def agent(
    agent: AgentArgument,
    message: MessageOption = None,
    model: AskedOption = None,
    script: ScriptOption = None,
    session: KeptOption = None,
    verbose: VerboseFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Talk to an agent.

    At a terminal you type; elsewhere each line of standard input is a message. Answers are shown as
    they come. While the agent asks a person something, the next line is the answer. /why tells what
    the last run did, /receipt what the model was handed, /help the rest; Ctrl-C cancels an answer.
    """
    import asyncio

    from saywhy.cli.agents.found import found_runner
    from saywhy.cli.agents.lines import Lines
    from saywhy.cli.agents.shown import JsonShown, TextShown
    from saywhy.cli.agents.talk import Talk
    from saywhy.cli.interrupts import woken_by_signals

    asked = _model(model, script)
    with asyncio.Runner() as loop, woken_by_signals(loop):
        try:
            runner = loop.run(found_runner(agent, asked))
            talk = Talk(runner, session)
            shown = JsonShown() if as_json else TextShown(verbose=verbose)
            code = _converse(Lines(loop, talk, shown), message, as_json=as_json)
            loop.run(runner.settled())
        finally:
            _close(loop, asked)
    raise typer.Exit(code)


def _model(model: str | None, script: Path | None) -> Any:
    """The model that was named; None where the agent's own is to be asked."""
    from saywhy.cli.given import load_asked
    from saywhy.models.scripted import ScriptedModel

    if script is None:
        return None if model is None else load_asked(model)
    if model is not None:
        raise CallerError("--model and --script name two models", hint="leave one of them out")
    return ScriptedModel.from_file(script)


def _converse(lines: Lines, message: str | None, *, as_json: bool) -> int:
    if message is not None:
        return lines.one(message)
    try:
        if not as_json and sys.stdin.isatty() and sys.stdout.isatty():
            lines.terminal()
        else:
            lines.pipe(as_json)
    except KeyboardInterrupt:
        err().line(_left(lines.talk))
    return 0


def _left(talk: Talk) -> str:
    kept = f"; the conversation is kept in {talk.session}" if talk.session else ""
    return f"left{kept}"


def _close(loop: asyncio.Runner, model: Any) -> None:
    """Close the connections of a model that was named on the command line, and so is ours."""
    close = getattr(model, "close", None)
    if close is not None and type(model).__module__.startswith("saywhy.models."):
        loop.run(close())
