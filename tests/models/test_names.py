"""Promise: a model is made from a name, and a name that makes none says what to write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import CallerError
from saywhy.models.names import is_model_name, model_of
from saywhy.models.provider import reply_of
from tests.models.line import Line
from tests.models.vendors import ANTHROPIC, GOOGLE, OPENAI, Vendor, ask_of

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")
HI = {
    "task": "chat",
    "messages": [{"role": "user", "content": "Hi"}],
    "settings": {"max_tokens": 9},
}


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's own keys are nobody's business here."""
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)


@pytest.mark.parametrize("vendor", [OPENAI, ANTHROPIC, GOOGLE], ids=lambda one: one.name)
@pytest.mark.parametrize("capital", [False, True], ids=["small", "Capital"])
async def test_a_vendors_model_at_an_address(
    vendor: Vendor, capital: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked there, under its name."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    answer = json.dumps(vendor.cases()[1]["answer"]).encode()
    name = vendor.name.capitalize() if capital else vendor.name
    async with Line([answer], kind="application/json") as line:
        model: Any = model_of(f"{name}:small@{line.base}")
        assert (await reply_of(model, ask_of(HI))).text == "Hello."
        await model.close()
    (body,) = line.requests
    if vendor is OPENAI:  # another maker's server: the older word for the size, and no key needed
        assert body["max_tokens"] == 9
    assert body.get("model", "small") == "small"


async def test_a_script_in_a_file(tmp_path: Path) -> None:
    """`scripted:` and the path, which may have an @ in it."""
    (tmp_path / "a@b.json").write_text('[{"reply": "hello"}]')
    model = model_of(f"scripted:{tmp_path / 'a@b.json'}")
    assert (await reply_of(model, ask_of(HI))).text == "hello"


@pytest.mark.parametrize(
    ("spec", "told", "hint"),
    [
        ("opnai:small", '"opnai:small" names no model', 'did you mean "openai"?'),
        ("small", '"small" names no model', "write openai:NAME"),
        ("openai:", '"openai:" names no model of openai', "write openai:NAME"),
        ("openai:@http://x", "names no model of openai", "write openai:NAME"),
        ("openai:small@here", "here is no address of a server", "openai:small@http://host:port/v1"),
        ("openai:small@", "nothing is no address of a server", "openai:small@http://host:port/v1"),
        ("openai:small", "there is no key for small", "set OPENAI_API_KEY in the environment"),
        ("google:small", "there is no key for small", "set GEMINI_API_KEY in the environment"),
        ("anthropic:s", "there is no key for s", "set ANTHROPIC_API_KEY in the environment"),
        ("scripted:no.json", "no.json cannot be read: No such file or directory", ""),
    ],
)
def test_a_name_that_makes_no_model(spec: str, told: str, hint: str) -> None:
    """What is wrong, and what to write."""
    with pytest.raises(CallerError) as caught:
        model_of(spec)
    assert told in str(caught.value)
    assert caught.value.hint.startswith(hint)


def test_which_words_are_such_names() -> None:
    """A module or a file of one's own is none of them."""
    names = [
        "openai:x",
        "Scripted:x.json",
        "host.py:model",
        "module:model",
        "openai",
        "openai.py:x",
    ]
    assert [is_model_name(name) for name in names] == [True, True, False, False, False, False]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "script.json is no JSON: Expecting property name"),
        ("[" * 5000, "script.json is no JSON: maximum recursion depth"),
        ('{"reply": "x"}', "script.json: the model's script is a list, not dict"),
        ("null", "script.json: the model's script is a list, not NoneType"),
        ("1e999", "script.json: the model's script is a list, not float"),
        ('[{"replay": "x"}]', "script.json: entry 0 of the model's script has an unknown key"),
    ],
)
def test_a_script_that_cannot_be_played(tmp_path: Path, text: str, told: str) -> None:
    """The file is named."""
    (tmp_path / "script.json").write_text(text)
    with pytest.raises(CallerError) as caught:
        model_of(f"scripted:{tmp_path / 'script.json'}")
    assert told in str(caught.value)
