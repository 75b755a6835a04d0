"""Agents full of canaries that rest at a person twice, and go on in other processes.

As a program it takes checkpoints on standard input, answers the questions that are open in them,
and writes what then was kept, with the next checkpoints, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Mapping
from io import StringIO
from typing import Any

from saywhy import (
    Agent,
    CallerError,
    ExplainRecorder,
    RecordingModel,
    ask_human,
    define_tool,
    masked_record,
)
from saywhy.agent.tools import AgentTool
from saywhy.models.provider import Ask, ModelReply, ToolCallPiece
from saywhy.trace.export.file import lines_of
from saywhy.trace.export.spans import spans_of
from tests.journeys.canary import canary, without
from tests.journeys.searched import Hooks

GUARDS = ("argument", "answer", "approved")
"""What tools declare, each with a canary called like it."""
LIVE = ("history", "pending", "offered", "decision", "carried", "secrets")
"""Parts of a checkpoint that a later run needs as they are, or masks by."""
LIVE_WHILE_PAUSED = ("cursor", "message", "question", "messages", "sensitive")
"""The same of a run that rests; beside them stands its record, which is masked."""


class Desk:
    """Makes the call of one declaration, asks a person what to do, and answers."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def ask(self, ask: Ask) -> ModelReply:
        heard = [one for one in ask.messages if one["role"] == "tool"]
        rounds = ROUNDS[self.name]
        if len(heard) == len(rounds):
            return ModelReply(made_of(self.name))
        name, arguments = rounds[len(heard)]
        return ModelReply("", tool_calls=(ToolCallPiece(f"c{len(heard)}", name, arguments),))


def made_of(name: str) -> str:
    """What a model makes of a canary."""
    return f"{canary(name)}, {canary(name)[::-1]}, {canary(name).upper()}"


def _question(name: str) -> tuple[str, dict[str, Any]]:
    return "ask_human", {"question": f"Is it {made_of(name)}?"}


ROUNDS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "argument": [
        ("hand", {"text": canary("argument")}), _question("argument"), _question("argument")
    ],
    "answer": [("give", {}), _question("answer"), _question("answer")],
    "approved": [("sign", {"text": canary("approved")}), _question("approved")],
}  # fmt: skip
"""Declaration → the calls that are wanted, one after the other; each run rests twice."""


def tools(left_out: str) -> list[AgentTool]:
    """With every declaration but one."""

    def text(guard: str) -> Mapping[str, Any]:
        shape = {"text": {"type": "string", "pii": guard}}
        return {"type": "object", "properties": without(left_out, shape)}

    ssn = {"type": "object", "properties": {"ssn": {"type": "string", "pii": "answer"}}}
    return [
        ask_human(),
        define_tool("hand", "Takes it", text("argument"), _turned),
        define_tool("give", "Gives it", {}, _person, returns=without(left_out, ssn)),
        define_tool("sign", "Signs it", text("approved"), _turned, approval=True),
    ]


def _turned(args: Any) -> str:
    return f"{args['text'][::-1]} is fine"


def _person(args: Any) -> dict[str, str]:
    return {"ssn": canary("answer"), "city": "Bern"}


class Desks:
    """An agent for each declaration, and everything that is kept of what they do here."""

    def __init__(self, left_out: str = "") -> None:
        self.hooks, self.explains = Hooks(), ExplainRecorder()
        self.models: list[dict[str, Any]] = []
        self.seen: list[str] = []
        self.logged = StringIO()
        logging.getLogger("saywhy").addHandler(logging.StreamHandler(self.logged))
        recorders = [self.hooks, self.explains]
        self.agents = {
            name: Agent(
                RecordingModel(Desk(name), self.models, redact=masked_record),
                name=name,
                tools=tools(left_out),
                recorders=recorders,
            )
            for name in GUARDS
        }

    async def begin(self) -> None:
        """A run of each agent, up to its first rest."""
        for agent in self.agents.values():
            assert (await agent.run("go")).paused
            self.look(agent)

    async def go_on(self, checkpoints: Mapping[str, str], answers: Mapping[str, Any]) -> list[str]:
        """Every run that rests, up to its next rest; what was answered, or asked."""
        told: list[str] = []
        for name, agent in self.agents.items():
            agent.restore(checkpoints[name])
            result = await agent.resume(answers[name])
            told.append(str(result.pause_data) if result.paused else result.content)
            self.look(agent)
        return told

    def checkpoints(self) -> dict[str, str]:
        """Each agent's conversation."""
        return {name: agent.checkpoint().decode() for name, agent in self.agents.items()}

    def look(self, agent: Agent) -> None:
        """What can be told of its last run."""
        trace = agent.trace
        self.seen += [b"\n".join(lines_of(trace)).decode(), trace.narrative(format="json")]
        self.seen += [repr(one) for one in spans_of(trace)]
        for target in (None, "tool:give"):
            try:
                self.seen.append(trace.why(target).text())
            except CallerError as error:  # nothing of it is on record
                self.seen.append(str(error))

    def everything(self) -> str:
        """All of it as one text."""
        explained = [repr(self.explains.get_summary()), self.explains.explain()]
        models = json.dumps(self.models, ensure_ascii=False)
        return "\n".join([*self.hooks.told, *explained, models, *self.seen, self.logged.getvalue()])


def apart(checkpoint: str) -> tuple[str, str]:
    """What of a checkpoint is live state, and all the rest of it."""
    tree = json.loads(checkpoint)
    paused = tree.get("paused") or {}
    live = [tree.pop(name) for name in LIVE if name in tree]
    live += [paused.pop(name) for name in LIVE_WHILE_PAUSED if name in paused]
    return json.dumps(live, ensure_ascii=False), json.dumps(tree, ensure_ascii=False)


async def main() -> None:
    """Go on with the checkpoints, and tell what is kept then."""
    given = json.load(sys.stdin)
    desks = Desks(given["left_out"])
    told = await desks.go_on(given["checkpoints"], given["answers"])
    kept = {"kept": desks.everything(), "checkpoints": desks.checkpoints(), "told": told}
    print(json.dumps(kept))


if __name__ == "__main__":
    asyncio.run(main())
