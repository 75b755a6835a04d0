"""Promise: whatever a person says, in whatever order, nothing breaks and there is a way out.

A person made of random numbers answers, mumbles, interrupts, corrects, cancels, goes silent and
repeats messages, over flows made of random numbers, with and without a model that says anything.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from saywhy import Engine, MemoryStore
from saywhy.runtime.session import Session
from saywhy.testing import FakeClock
from tests.amount import IS_NIGHTLY, examples
from tests.journeys.dialogue import (
    COMMANDS,
    CORRECTIONS,
    MUMBLES,
    TOOLS,
    WORDS,
    AnyModel,
    Author,
    functions,
)

LIBRARIES = 60
TURNS = 12
MOST_CANCELS = 8


class Talk:
    """A conversation with a library, on an engine and a store of its own."""

    def __init__(self, number: int, *, voice: bool, model: bool) -> None:
        author = Author(number % LIBRARIES)
        self.names = author.names
        self.language = "es" if number % 3 == 0 else "en"
        self.clock = FakeClock()
        self.store = MemoryStore(clock=self.clock)
        self.engine = Engine(
            flows=author.flows(),
            tools=TOOLS,
            functions=functions(),
            store=self.store,
            clock=self.clock,
            model=AnyModel(number, self.names) if model else None,
            language=self.language,
            validate_on_init=False,
            logger=Quiet(),
        )
        self.cargo = {"voice": voice}
        self.messages = 0
        self.said: list[tuple[str, str | None]] = []

    async def say(self, text: str) -> None:
        """A new message."""
        self.messages += 1
        await self._send(text)

    async def repeat(self) -> None:
        """The last message once more: it gets the same reply, and nothing happens."""
        text, reply = self.said[-1]
        before = await self.session()
        again = await self._take(text)
        assert again.repeated
        assert again.response == reply
        after = await self.session()
        assert before.to_json() == after.to_json()

    async def be_silent(self, seconds: float) -> None:
        """Nothing, for a while."""
        self.clock.advance(seconds)
        await self.engine.run_due()

    async def session(self) -> Session:
        """As it is stored; going through JSON changes nothing."""
        found = await self.engine.session("s")
        assert found is not None
        loaded = self.engine.load_session(found.to_json())
        assert loaded.to_json() == found.to_json()
        return found

    async def _send(self, text: str) -> None:
        reply = await self._take(text)
        assert not reply.repeated
        self.said.append((text, reply.response))

    async def _take(self, text: str) -> Any:
        return await self.engine.take_turn(
            "s", text, message_id=f"m{self.messages}", user_id="ann", cargo=self.cargo
        )


class Quiet:
    """A logger that fails where the library says that something of its own went wrong."""

    def debug(self, text: str) -> None:
        """Nothing."""

    info = warn = debug

    def error(self, text: str) -> None:
        """A step that fails on purpose is told as a failed tool, which is no error of ours."""
        assert "DISPATCH before any SAY-GET" in text, text


class Person(RuleBasedStateMachine):
    """Somebody who talks."""

    model: ClassVar[bool] = False

    @initialize(number=st.integers(0, 10_000), voice=st.booleans())
    def begin(self, number: int, voice: bool) -> None:
        self.talk = Talk(number, voice=voice, model=self.model)
        self.steps: list[tuple[str, Any]] = []
        self.args = (number, voice)
        self.act("say", self.talk.names[number % len(self.talk.names)])

    @rule(text=st.sampled_from(WORDS))
    def answer(self, text: str) -> None:
        self.act("say", text)

    @rule(text=st.sampled_from(MUMBLES))
    def mumble(self, text: str) -> None:
        self.act("say", text)

    @rule(number=st.integers(0, 3))
    def interrupt(self, number: int) -> None:
        self.act("say", self.talk.names[number % len(self.talk.names)])

    @rule(
        form=st.sampled_from(CORRECTIONS),
        value=st.sampled_from(WORDS),
        name=st.sampled_from(("amount", "color", "the sum")),
    )
    def correct(self, form: str, value: str, name: str) -> None:
        self.act("say", form.format(value, name))

    @rule(text=st.sampled_from(COMMANDS))
    def command(self, text: str) -> None:
        self.act("say", text)

    @rule(seconds=st.sampled_from((1, 31, 700)))
    def be_silent(self, seconds: int) -> None:
        self.act("be_silent", seconds)

    @precondition(lambda self: self.steps and self.steps[-1][0] == "say")
    @rule()
    def repeat(self) -> None:
        run(self.talk.repeat())

    def act(self, what: str, argument: Any) -> None:
        self.steps.append((what, argument))
        run(getattr(self.talk, what)(argument))

    @invariant()
    def a_question_or_nothing(self) -> None:
        """Whatever runs waits for somebody, and the user was told what it waits for."""
        session = run(self.talk.session())
        for frame in session.cursor.frames[-1:]:
            assert frame.waiting is not None, f"{frame.name} waits for nothing"

    def teardown(self) -> None:
        """There is a way out, and the same words give the same conversation."""
        if not hasattr(self, "talk"):
            return
        run(self.leave())
        if self.args[0] % 10 == 0:
            assert run(self.once_more()) == self.talk.said
        run(self.talk.engine.close())

    async def leave(self) -> None:
        for _ in range(MOST_CANCELS):
            if not (await self.talk.session()).cursor.frames:
                return
            way_out = "cancelar flujo" if self.talk.language == "es" else "cancel flow"
            await self.talk.say(way_out)
            self.steps.append(("say", way_out))
        raise AssertionError(f"no way out of {self.talk.names}")

    async def once_more(self) -> list[tuple[str, str | None]]:
        number, voice = self.args
        again = Talk(number, voice=voice, model=self.model)
        for what, argument in self.steps:
            await getattr(again, what)(argument)
        await again.engine.close()
        return again.said


class PersonWithModel(Person):
    """The same, where a model is asked."""

    model = True


LOOP = asyncio.new_event_loop()


def run(work: Any) -> Any:
    """One loop for all: a new one for each step would be most of the time."""
    return LOOP.run_until_complete(work)


@pytest.fixture(scope="module", autouse=True)
def _loop() -> Any:
    yield
    LOOP.close()


def talks(people: type[Person], number: int) -> type[Any]:
    """A test of one in four of the conversations; at night others each time."""
    who: Any = type(f"{people.__name__}{number}", (people,), {})
    if not IS_NIGHTLY:
        seed(number)(who)
    who.TestCase.settings = settings(
        max_examples=examples(500, 5_000),
        stateful_step_count=TURNS,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    return who.TestCase


TestWithout1 = talks(Person, 1)
TestWithout2 = talks(Person, 2)
TestWithModel1 = talks(PersonWithModel, 3)
TestWithModel2 = talks(PersonWithModel, 4)
