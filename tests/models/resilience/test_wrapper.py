"""Promise: half an answer is an error, attempts give one answer, and closing reaches everybody."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from saywhy.errors import ModelError
from saywhy.models.provider import Ask, Piece, TextPiece, UsagePiece
from saywhy.models.resilience.wrapper import Attempts, Wrapper, whole_answer
from tests.models.resilience.steps import GOOD, HI, STOP, STREAMED, Steps


def test_a_stream_without_an_end() -> None:
    """It was cut off: what came before is given, then an error that may pass."""

    async def run() -> list[Piece]:
        found: list[Piece] = []
        with pytest.raises(ModelError) as error:
            async with aclosing(whole_answer(Steps([TextPiece("he")]), HI)) as pieces:
                async for piece in pieces:
                    found.append(piece)
        assert str(error.value) == "the answer of the model broke off before it was complete"
        assert (error.value.code, error.value.retryable) == ("network", True)
        return found

    assert asyncio.run(run()) == [TextPiece("he")]


@pytest.mark.parametrize(("ask", "given"), [(HI, False), (STREAMED, True)])
def test_what_was_given_out(ask: Ask, given: bool) -> None:
    """Without a stream nothing is given out before an attempt is whole."""

    async def run() -> tuple[list[Piece], bool]:
        attempts, found = Attempts(ask), list[Piece]()
        with pytest.raises(ModelError, match="down"):
            async with aclosing(
                attempts.one(Steps([TextPiece("he"), ModelError("down", code="server")]))
            ) as pieces:
                async for piece in pieces:
                    found.append(piece)
        return found, attempts.given

    assert asyncio.run(run()) == ([TextPiece("he")] if given else [], given)


def test_what_failed_attempts_used_is_added() -> None:
    """The usage of an ask is that of all its attempts, since each of them is paid for."""

    async def run() -> list[Piece]:
        attempts, found = Attempts(STREAMED), list[Piece]()
        failing = Steps([UsagePiece(7, 0), UsagePiece(7, 1), ModelError("down", code="server")])
        for provider in (failing, failing, Steps(GOOD)):
            try:
                async with aclosing(attempts.one(provider)) as pieces:
                    async for piece in pieces:
                        found.append(piece)
            except ModelError:
                assert not attempts.given
        return found

    used = [
        (piece.tokens_in, piece.tokens_out)
        for piece in asyncio.run(run())
        if isinstance(piece, UsagePiece)
    ]
    assert used == [(7, 0), (7, 1), (14, 1), (14, 2), (24, 4)]


def test_closing_goes_on_after_an_error() -> None:
    """One that cannot be closed keeps no other one open; its error is told."""

    class Stuck(Steps):
        async def close(self) -> None:
            raise OSError("stuck")

    last = Steps([STOP])
    with pytest.raises(OSError, match="stuck"):
        asyncio.run(Wrapper([Stuck([STOP]), last]).close())
    assert last.closed
