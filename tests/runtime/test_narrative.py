"""`engine.narrative`: what a store holds in sentences, those of the host in front."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy import Engine, MemoryStore
from saywhy.errors import CallerError, UnknownSession

FLOWS: list[dict[str, Any]] = [
    {
        "id": "pay", "name": "Pay", "version": "1.0", "primary": True, "prompt": "pay",
        "description": "Pays",
        "steps": [
            {"id": "ask", "type": "SAY-GET", "variable": "amount", "value": "How much?"},
            {"id": "tell", "type": "SAY", "value": "Paid {{amount}}."},
        ],
    }
]  # fmt: skip


async def test_sentences_of_the_host() -> None:
    """`messages` replaces a sentence in its language, and adds a language; ours fill the rest."""
    messages = {
        "es": {"story_user_said": "Cliente: {{text}}"},
        "nl": {"story_reply": "Antwoord"},
    }
    engine = Engine(
        flows=FLOWS, guidance={"enabled": False}, store=MemoryStore(), messages=messages
    )
    async with engine:
        await engine.take_turn("s", "pay")
        await engine.take_turn("s", "80")
        spanish = (await engine.narrative("s", 2, language="es")).splitlines()
        assert spanish[1:] == [
            '  2.1  Cliente: "80"',
            '  2.2  La respuesta es amount = "80".',
            '  2.3  Se dijo "Paid 80.".',
            "  2.4  El flujo Pay terminó: completado.",
            '  Respuesta: "Paid 80."',
        ]
        assert (await engine.narrative("s", language="nl")).endswith('  Antwoord: "Paid 80."')
        short = await engine.narrative("s", budget=60, tokens=lambda text: len(text) // 3)
        assert short.startswith("(Turn 1 is left out.)")
        assert (await engine.narrative("s", format="markdown")).startswith("### Turn 1")


async def test_what_there_is_not() -> None:
    """A conversation, a turn and a format that are not there are refused."""
    async with Engine(flows=FLOWS, store=MemoryStore()) as engine:
        with pytest.raises(UnknownSession):
            await engine.narrative("none")
        await engine.take_turn("s", "pay")
        with pytest.raises(CallerError, match="turn 7 is not in this trace"):
            await engine.narrative("s", 7)
        with pytest.raises(CallerError, match='there is no narrative as "html"'):
            await engine.narrative("s", format="html")  # type: ignore[arg-type]
