"""Promise: keys that hosts put into globals and tools are in no record, log, text, error or export.

The server repeats whatever it was sent, in its answers and in its errors, as servers do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from saywhy import Engine, HttpSettings, SqliteStore
from saywhy.testing import StubServer
from tests.journeys.searched import Place

KEYS = {
    **{name: f"sk-{name}-90210-{name[::-1]}" for name in ("globals", "nested", "tool", "header")},
    "hash": "hash-secret-90210",
    "basic": "pass-90210-word",
}


def repeats(request: Any) -> Mapping[str, Any]:
    """An answer that holds all that came in; an error where the path says so."""
    heard = {"headers": dict(request.headers), "text": request.text}
    if request.path == "/bad":
        return {"status": 422, "body": {"message": json.dumps(heard)}}
    return {"body": heard}


@pytest.fixture
def web() -> Iterator[StubServer]:
    """A server that repeats what it hears."""
    server = StubServer()
    server.on("POST", "/good", answer=repeats).on("POST", "/bad", answer=repeats)
    with server:
        yield server


def tool(name: str, url: str, **more: Any) -> dict[str, Any]:
    """An HTTP tool with every kind of key."""
    return {
        "id": name,
        "name": name,
        "description": name,
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
        "implementation": {
            "type": "http",
            "url": url,
            "authHeaders": {"X-Partner": f"Partner {KEYS['header']}"},
            "headers": {"X-Own-Key": "{{apiKey}}"},
            "retryDelay": 0,
            **more,
        },
        "effect": "reads",
    }


def flows() -> list[dict[str, Any]]:
    """A flow that uses keys in every way, sensible and not."""
    steps: list[dict[str, Any]] = [
        {"type": "SET", "variable": "mine", "value": "apiKey"},
        {"type": "SET", "variable": "back", "value": "apiKey.split('').reverse().join('')"},
        {"type": "SET", "variable": "deep", "value": "partner.login.secret"},
        {"type": "SAY", "value": "The key is {{mine}}, {{back}} and {{deep}}."},
        {"type": "SAY-GET", "variable": "more", "value": "Go on?"},
    ]
    for name in ("bearer", "basic", "hashed", "failing"):
        call = {"tool": name, "args": {"text": "{{back}}"}, "variable": name, "maxRetries": 0}
        steps.append({"type": "CALL-TOOL", **call, "onFail": {"type": "SAY", "value": "No."}})
    steps.append({"type": "CALL-TOOL", "tool": "failing", "args": {"text": "{{mine}}"}})
    numbered = [{"id": f"s{number}", **step} for number, step in enumerate(steps)]
    return [{"id": "f", "name": "Flow", "version": "1.0", "steps": numbered}]


def host(web: StubServer, place: Place) -> Engine:
    """An engine whose host has its keys where the documentation allows them."""
    block = {"secret": KEYS["hash"], "fields": ["text"], "location": "header"}
    basic = {"username": "ann", "password": KEYS["basic"]}
    good = f"{web.base}/good"
    return Engine(
        flows=flows(),
        tools=[
            tool("bearer", good, apiKey=KEYS["tool"]),
            tool("basic", good, basicAuth=basic),
            tool("hashed", good, hashAuth=block),
            tool("failing", f"{web.base}/bad", apiKey=KEYS["tool"]),
        ],
        globals={"apiKey": KEYS["globals"], "partner": {"login": {"secret": KEYS["nested"]}}},
        guidance={"enabled": False},
        validate_on_init=False,
        logger=place.log,
        log_tool_failures=True,
        store=SqliteStore(place.path),
        http=HttpSettings(allow_private=True),
    )


async def test_keys_are_nowhere(web: StubServer, tmp_path: Path) -> None:
    """Neither as they are nor turned round; the server did get them."""
    place = Place(tmp_path / "s.db").with_engine(lambda own: host(web, own))
    async with place.engine:
        said = await place.say("c", "Flow")
        assert KEYS["globals"] in (said or "")
        place.see(await place.say("c", "status"))
        place.see(await place.say("c", "help"))
        told = await place.say("c", "yes")
        assert "did not work: HTTP 422" in (told or "")
        place.see(told)  # an error is told to the user, and repeats what was sent
        await place.say("c", "nothing")  # until then the newest reply can be given again
        await place.look("c")
    heard = "".join(f"{request.headers} {request.text}" for request in web.requests)
    assert KEYS["tool"] in heard
    assert KEYS["header"] in heard
    written = place.written().decode("utf-8", "replace")
    for key in KEYS.values():
        assert key not in written
        assert key[::-1] not in written
