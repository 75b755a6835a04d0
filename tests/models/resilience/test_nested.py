"""Promise: wrappers nest in any order; an answer is one attempt's, and nothing is left of any."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from saywhy.errors import ModelError
from saywhy.models.chat import user_message
from saywhy.models.provider import Ask, Piece, Provider, StopPiece, TextPiece, UsagePiece
from saywhy.models.recorder import RecordingModel
from saywhy.models.resilience.budgeted import with_budget
from saywhy.models.resilience.circuit_breaker import with_circuit_breaker
from saywhy.models.resilience.fallback import resilient, with_fallback
from saywhy.models.resilience.rate_limit import with_rate_limit
from saywhy.models.resilience.retries import with_retries
from saywhy.models.resilience.timeout import with_timeout
from saywhy.testing.clock import FakeClock
from tests.amount import examples
from tests.models.resilience.steps import Steps, cancelled_everywhere, taken, text_of

Wrap = Callable[[Provider, FakeClock], Provider]

WRAPPERS: dict[str, Wrap] = {
    "retries": lambda inner, clock: with_retries(inner, clock=clock),
    "timeout": lambda inner, clock: with_timeout(inner, 5, 4, stall_seconds=4, clock=clock),
    "limit": lambda inner, clock: with_rate_limit(
        inner, requests=2, per_seconds=3, tokens=50, clock=clock
    ),
    "breaker": lambda inner, clock: with_circuit_breaker(inner, 2, 2000, clock=clock),
    "resilient": lambda inner, clock: resilient([inner, inner], 2, 2000, clock=clock),
    "fallback": lambda inner, clock: with_fallback([inner, inner]),
    "budget": lambda inner, clock: with_budget(inner, seconds=60, tokens=200, clock=clock),
    "recorder": lambda inner, clock: RecordingModel(inner, [], clock=clock),
}
STEPS = st.sampled_from(["text", "text", "usage", "wait", "hang", "busy", "down", "gone", "no"])
ERRORS: dict[str, Exception] = {
    "busy": ModelError("busy", code="rate_limit", retry_after=1.5),
    "down": ModelError("down", code="server"),
    "gone": ConnectionError("gone"),
    "no": ModelError("no", code="invalid_request"),
}
scripts = st.lists(st.lists(STEPS, max_size=4), min_size=1, max_size=4)
nests = st.lists(st.sampled_from(sorted(WRAPPERS)), min_size=1, max_size=4)


def script_of(number: int, kinds: list[str]) -> list[Any]:
    """An attempt whose texts tell its number; `busy` and the like end it."""
    steps: list[Any] = []
    for at, kind in enumerate(kinds):
        known = {"text": TextPiece(f"{number}.{at} "), "usage": UsagePiece(at, at)}
        known |= {"wait": 0.5, "hang": 1000}
        steps.append(ERRORS[kind] if kind in ERRORS else known[kind])
    return [*steps, StopPiece("stop", f"attempt-{number}")]


def whole_text(script: list[Any]) -> str:
    return text_of([step for step in script if isinstance(step, TextPiece)])


@settings(max_examples=examples(150, 3000))
@given(
    nest=nests,
    attempts=scripts,
    stream=st.booleans(),
    patience=st.sampled_from([0.0, 0.7, 2.0, 100.0]),
    many=st.integers(1, 3),
)
def test_any_nest(
    nest: list[str], attempts: list[list[str]], stream: bool, patience: float, many: int
) -> None:
    """Over any model that fails, hangs, is slow or breaks off, asked by several who may give up."""
    clock = FakeClock()
    played = [script_of(number, kinds) for number, kinds in enumerate(attempts)]
    steps = Steps(*played, clock=clock)
    model: Any = steps
    for name in nest:
        model = WRAPPERS[name](model, clock)
    ask = Ask("chat", messages=[user_message("hi")], stream=stream)

    async def one() -> None:
        pieces: list[Piece] = []
        whole = False

        async def read() -> None:
            nonlocal whole
            async for piece in model.ask(ask):
                pieces.append(piece)
            whole = True

        with contextlib.suppress(ModelError, ConnectionError, TimeoutError):
            await clock.wait_for(read(), patience)
        numbers = {piece.text.split(".")[0] for piece in pieces if isinstance(piece, TextPiece)}
        assert len(numbers) <= 1, f"texts of several attempts: {pieces}"
        used = [piece for piece in pieces if isinstance(piece, UsagePiece)]
        assert used == sorted(used, key=lambda piece: (piece.tokens_in, piece.tokens_out))
        if whole:
            stop = pieces[-1]
            assert isinstance(stop, StopPiece)
            script = played[int(stop.model.removeprefix("attempt-"))]
            assert text_of(pieces) == whole_text(script)

    async def run() -> set[asyncio.Task[Any]]:
        own = asyncio.current_task()
        await asyncio.gather(*[one() for _ in range(many)])
        await asyncio.sleep(0)
        return asyncio.all_tasks() - {own}

    assert asyncio.run(run()) == set()
    assert steps.open == 0


def test_cancelled_at_any_moment_a_nest_lets_go() -> None:
    """All of them around one model, in the order that the docs advise."""
    clock = FakeClock(auto=False)
    steps = [Steps()]

    def nest() -> Any:
        down: list[Any] = [0.1, ERRORS["down"]]
        steps[0] = Steps(down, [0.1, TextPiece("he"), 0.1, StopPiece()], clock=clock)
        model: Any = steps[0]
        for name in ("timeout", "limit", "retries", "resilient", "budget", "recorder"):
            model = WRAPPERS[name](model, clock)
        return model

    async def ask() -> None:
        streamed = Ask("chat", messages=[user_message("hi")], stream=True)
        assert text_of(await taken(nest(), streamed)) == "he"

    def after() -> None:
        assert steps[0].open == 0
        assert clock.sleeping == 0

    assert asyncio.run(cancelled_everywhere(ask, after, clock)) > 20
