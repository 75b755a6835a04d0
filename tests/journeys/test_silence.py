"""Promise: a caller who falls silent is asked again, helped on and let go; the record shows why.

On the telephone, in Spanish, in a store's file, with a worker that is exchanged in the middle.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from saywhy.runtime.engine import Engine
from saywhy.stores.sqlite import SqliteStore
from saywhy.testing import FakeClock
from saywhy.trace.causes.why import Variable, why
from saywhy.values import loads_raw

FLOWS = """\
- id: pin
  name: Pin
  version: "1"
  primary: true
  prompt: Check a card
  description: Checks a card by its number
  inactivity: 600000
  steps:
    - id: number
      type: SAY-GET
      value: Your card number?
      value_es: ¿El número de su tarjeta?
      variable: card
      digits: { min: 4, max: 4 }
      timeout:
        after: 8000
        max: 1
        ask: Please say or type four digits.
        ask_es: Diga o marque cuatro cifras, por favor.
        then:
          - { id: sorry, type: SAY, value: I connect you., value_es: Le paso con alguien. }
          - { id: hand, type: CALL-TOOL, tool: connect, variable: agent }
          - { id: end, type: END, outcome: handed over, reason: "{{agent}}" }
    - id: done
      type: SAY-GET
      variable: more
      value: "{{card}} is fine. Anything else?"
      value_es: "{{card}} está bien. ¿Algo más?"
    - { id: bye, type: SAY, value: Goodbye., value_es: Adiós. }
"""
TOOL: dict[str, Any] = {
    "id": "connect",
    "name": "connect",
    "description": "Connects the caller with somebody",
    "effect": "repeatable",
    "parameters": {"type": "object", "properties": {}},
    "implementation": {"type": "local", "function": "connect"},
}


class Line:
    """A telephone line: workers come and go, the store's file and the time stay."""

    def __init__(self, folder: Path) -> None:
        self.flows = folder / "pin.flows.yaml"
        self.flows.write_text(FLOWS, "utf-8")
        self.file = folder / "calls.sqlite3"
        self.clock = FakeClock(auto=False)
        self.connected = 0

    def connect(self, _args: Any) -> str:
        self.connected += 1
        return f"agent {self.connected}"

    def worker(self) -> Engine:
        """An engine on the file; every step of a call goes through a new one."""
        return Engine(
            flows=self.flows,
            tools=[TOOL],
            functions={"connect": self.connect},
            guidance={"enabled": False},
            language="es",
            store=SqliteStore(self.file, synchronous="NORMAL"),
            clock=self.clock,
        )

    async def say(self, text: str) -> str | None:
        """What the caller hears after saying something."""
        async with self.worker() as engine:
            cargo = {"voice": True}
            return (await engine.take_turn("call", text, user_id="ann", cargo=cargo)).response

    async def quiet(self, seconds: float) -> list[str]:
        """What the caller hears without saying anything."""
        self.clock.advance(seconds)
        async with self.worker() as engine:
            await engine.run_due()
            assert engine.store is not None
            heard = await engine.store.unsent()
            for output in heard:
                await engine.store.mark_sent(output.output_id)
            return [loads_raw(output.payload)["text"] for output in heard]

    async def session(self) -> Any:
        async with self.worker() as engine:
            return await engine.session("call")


@pytest.fixture
def line(tmp_path: Path) -> Line:
    return Line(tmp_path)


async def test_a_caller_who_needs_a_moment(line: Line) -> None:
    """Asked again in Spanish, with the keypad as it was; the keys that come then are the answer."""
    assert await line.say("Pin") == "¿El número de su tarjeta?"
    assert await line.quiet(7.9) == []
    assert await line.quiet(0.1) == ["Diga o marque cuatro cifras, por favor."]
    session = await line.session()
    assert session.cargo == {"voice": True, "digits": {"min": 4, "max": 4}}
    assert session.frame.pending_variable == "card"
    assert await line.say("1 2-3 4") == "1234 está bien. ¿Algo más?"
    assert await line.quiet(599) == []
    assert await line.say("no") == "Adiós."
    assert line.connected == 0


async def test_a_caller_who_never_answers(line: Line) -> None:
    """Asked once more, then connected, once; the record leads from the tool to the silence."""
    await line.say("Pin")
    assert await line.quiet(8) == ["Diga o marque cuatro cifras, por favor."]
    assert await line.quiet(8) == ["Le paso con alguien."]
    assert await line.quiet(3600) == []
    session = await line.session()
    assert (session.flow_stacks, line.connected) == ([], 1)
    async with line.worker() as engine:
        trace = await engine.trace("call")
    chain = why(trace)
    (timer,) = [cause for cause in chain.causes if cause.root == "timer"]
    assert (timer.step, timer.place.file, timer.place.line) == ("number", str(line.flows), 9)
    assert timer.sentence.startswith("nobody answered for 8 s, asked 2 times")
    story = trace.narrative()
    assert "Nobody answered for 8 s, so it asked again." in story
    assert "Flow Pin ended" in story


async def test_a_caller_who_hung_up(line: Line) -> None:
    """A caller who has answered and is gone is let go after the limit; the outcome says so."""
    await line.say("Pin")
    await line.say("1234")
    assert await line.quiet(600) == []
    session = await line.session()
    assert session.flow_stacks == []
    assert session.last_flow_outcome == {
        "flowName": "Pin",
        "outcome": "abandoned",
        "reason": "nobody answered for 10 min",
        "endedBy": "silence",
    }
    async with line.worker() as engine:
        chain = why(await engine.trace("call"), Variable("card"))
    assert "words" in {cause.root for cause in chain.causes}
