"""Promise: a provider, a function, or a name may stand for a model, and nothing else."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import CallerError
from saywhy.models.asked import asked_model
from saywhy.models.chat import user_message
from saywhy.models.provider import Ask, ModelReply, reply_of
from saywhy.models.scripted import ScriptedModel

HI = Ask("chat", "be brief", [user_message("hi")])


def answer(given: Any) -> str:
    return asyncio.run(reply_of(asked_model(given), HI)).text


def test_a_provider_is_itself() -> None:
    """It is handed on as it is."""
    model = ScriptedModel([])
    assert asked_model(model) is model


def test_functions_of_the_whole_ask() -> None:
    """One parameter: it is given everything, and answers with text or a reply."""

    async def later(ask: Ask) -> ModelReply:
        return ModelReply(ask.user + "!")

    class Held:
        async def __call__(self, ask: Ask) -> str:
            return f"{ask.task} {ask.system}"

    assert answer(later) == "hi!"
    assert answer(lambda ask: ask.user + "?") == "hi?"
    assert answer(Held()) == "chat be brief"


def test_functions_of_two_texts() -> None:
    """As flows take them."""
    assert answer(lambda system, user: f"{system}: {user}") == "be brief: hi"


def test_a_name() -> None:
    """Of a vendor's model, or of a file."""
    with pytest.raises(CallerError, match='"nobody:x" names no model'):
        asked_model("nobody:x")
    with pytest.raises(CallerError):
        asked_model("scripted:" + str(Path("there", "is", "none.json")))


def test_what_is_no_model() -> None:
    """And a function that answers with something else."""
    with pytest.raises(CallerError, match="model is int, which cannot be asked"):
        asked_model(7)
    with pytest.raises(CallerError, match="model is the class ScriptedModel, which asks nobody"):
        asked_model(ScriptedModel)
    with pytest.raises(CallerError, match="the model's function gave int"):
        answer(lambda ask: 7)
