"""What all wrappers share: the provider within, and how its pieces are read.

A stream that ends without a `StopPiece` was cut off. Here that is an error like any other, so that
whoever repeats or counts failures sees it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from typing import Any, Final

from saywhy.errors import ModelError
from saywhy.models.failures import cut_off
from saywhy.models.provider import Ask, Piece, Provider, StopPiece, UsagePiece, pieces_of


class Wrapper:
    """Around one provider or several; closing it closes them."""

    def __init__(self, providers: Iterable[Provider]) -> None:
        self._inner: Final = tuple(providers)

    async def close(self) -> None:
        """Close what is within, as far as it can be closed."""
        failed: Exception | None = None
        for provider in self._inner:
            close: Any = getattr(provider, "close", None)
            try:
                if close is not None:
                    await close()
            except Exception as error:  # the others hold connections as well
                failed = failed or error
        if failed is not None:
            raise failed


async def whole_answer(provider: Provider, ask: Ask) -> AsyncGenerator[Piece, None]:
    """The pieces of an answer; raises `ModelError` (network) where its end is missing."""
    stopped = False
    async with aclosing(pieces_of(provider, ask)) as pieces:
        async for piece in pieces:
            stopped = stopped or isinstance(piece, StopPiece)
            yield piece
    if not stopped:
        raise cut_off("the model", "")


class Attempts:
    """Several attempts at one ask, of which the caller sees one answer.

    What was given out cannot be taken back: once `given` is true, nobody may begin anew. Where no
    stream was asked for, an attempt is held back until it is whole. What failed attempts used is
    part of what the ask has used so far, so it is added to what the vendor tells of later ones.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask: Final = ask
        self.given = False
        self._before = UsagePiece(0, 0)
        self._now = UsagePiece(0, 0)

    async def one(self, provider: Provider) -> AsyncGenerator[Piece, None]:
        """The pieces of one attempt."""
        self._before, self._now = self._used(), UsagePiece(0, 0)
        held: list[Piece] = []
        async with aclosing(whole_answer(provider, self._ask)) as pieces:
            async for piece in pieces:
                if isinstance(piece, UsagePiece):
                    self._now = piece
                    yield self._used()
                elif self._ask.stream:
                    self.given = True
                    yield piece
                else:
                    held.append(piece)
        for piece in held:
            self.given = True
            yield piece

    def _used(self) -> UsagePiece:
        before, now = self._before, self._now
        return UsagePiece(before.tokens_in + now.tokens_in, before.tokens_out + now.tokens_out)


def says_nothing(error: Exception) -> bool:
    """Whether an error is about the ask and not about who was asked: that one works."""
    return isinstance(error, ModelError) and error.code in {
        "invalid_request",
        "context_length",
        "aborted",
    }
