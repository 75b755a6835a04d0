"""A public attempt to catch a provider out, for whoever writes one.

It asks for real, about sixty times, so hand in a provider that may be asked: with a server of your
own behind it, or a small model. What is asked by default any model can answer. A server belongs in
another thread or process, for tasks that are left in this loop are taken for the provider's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final

from saywhy.errors import CallerError
from saywhy.models.chat import user_message
from saywhy.models.provider import Ask
from saywhy.testing.provider_promises import PROVIDER_CHECKS, ProviderBench, ProviderCheck

WORDS: Final = ("pear", "walnut", "ginger")

ASKS: Final = tuple(
    (
        Ask(
            "chat",
            "You answer with one word.",
            [user_message(f"Answer with the word {word} and nothing else.")],
        ),
        word,
    )
    for word in WORDS
)
"""What is asked, each with a word that must be in the answer."""

TOOL_ASK: Final = Ask(
    "chat",
    "You look up prices with the tool look_up and never guess them.",
    [user_message("What does the article A7 cost? Use the tool look_up.")],
    [
        {
            "name": "look_up",
            "description": "Gives the price of an article.",
            "input_schema": {
                "type": "object",
                "properties": {"article": {"type": "string"}},
                "required": ["article"],
            },
        }
    ],
)
"""What makes a model call a tool."""


async def check_provider(
    make: Callable[[], Any],
    *,
    asks: Sequence[tuple[Ask, str]] = ASKS,
    tools: Ask | None = TOOL_ASK,
    failing: Callable[[], Any] | None = None,
    usage: bool = True,
    repeatable: bool = False,
    probe: Callable[[], Any] | None = None,
    seconds: float = 60.0,
) -> None:
    """Raise `AssertionError` for the first promise that does not hold, naming it.

    `make` gives a new provider each time, `failing` one that must fail, such as one with a wrong
    key; both may be `async`. `asks` are pairs of an ask and a word that its answer must have, two
    at least, and no answer may have another's. `tools` must lead to a call of a tool; None where
    the provider can call none. `usage=False`: its vendor does not tell tokens. `repeatable`: the
    same ask gives the same text. `probe` looks at what the provider holds, such as the number of
    open connections. Each promise may take `seconds`.
    """
    if not callable(make) or (failing is not None and not callable(failing)):
        given, name = (make, "make") if not callable(make) else (failing, "failing")
        raise CallerError(
            f"check_provider: {name} is a function, not {type(given).__name__}",
            hint=f"{name}=lambda: MyProvider(…)",
        )
    if len(asks) < 2:
        raise CallerError(
            "check_provider: asks has less than two, so nobody would see whether answers mix",
            hint='asks=[(Ask("chat", messages=[…]), "pear"), (Ask(…), "walnut")]',
        )
    bench = ProviderBench(
        make, tuple(asks), tools, failing, usage, repeatable, probe, float(seconds)
    )
    for check in PROVIDER_CHECKS:
        await check_provider_promise(check, bench)


async def check_provider_promise(check: ProviderCheck, bench: ProviderBench) -> None:
    """Try one promise."""
    promise = f"{check.__name__}: {(check.__doc__ or '').strip()}"
    limit = asyncio.timeout(bench.seconds)
    try:
        async with limit:
            await check(bench)
    except TimeoutError as error:
        if not limit.expired():
            raise AssertionError(f"{promise}\n    it ended in {error!r}") from error
        raise AssertionError(
            f"{promise}\n    it took more than {bench.seconds:g} seconds"
        ) from error
    except AssertionError as error:
        raise AssertionError(f"{promise}\n    {error}") from error
    except CallerError:
        raise
    except Exception as error:
        raise AssertionError(f"{promise}\n    it ended in {error!r}") from error
