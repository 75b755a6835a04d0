"""What the host says of a session is put on record once, when it is new."""

from __future__ import annotations

import asyncio

import pytest

from saywhy import Engine
from saywhy.runtime.session import Session

FLOW = {
    "id": "ask",
    "name": "Ask",
    "primary": True,
    "steps": [
        {"id": f"q{number}", "type": "SAY-GET", "variable": f"v{number}", "value": f"{number}?"}
        for number in range(5)
    ],
}


@pytest.fixture
def engine() -> Engine:
    return Engine(flows=[FLOW], language="en")


def host_in(session: Session) -> list[object]:
    """What is on record of the host in each turn."""
    received = [commit for commit in session.commits if commit.kind == "receive"]
    return [commit.facts.get("host") for commit in received]


def test_nothing_was_said(engine: Engine) -> None:
    """A host that says nothing leaves nothing in the record and nothing in the session."""
    session = asyncio.run(engine.update_activity("ask", engine.init_session("ann", "s")))
    session = asyncio.run(engine.update_activity("one", session))
    assert host_in(session) == [None, None]
    assert "told" not in session.state.scopes["session"]


def test_the_usual_language_is_no_news(engine: Engine) -> None:
    """The language that the engine has anyway is nothing that the host said."""
    session = asyncio.run(engine.update_activity("ask", engine.init_session("ann", "s", "en")))
    assert host_in(session) == [None]


def test_said_once_and_taken_back(engine: Engine) -> None:
    """What is new stands with the next message, once; what is taken back is new as well."""
    session = asyncio.run(engine.update_activity("ask", engine.init_session("ann", "s")))
    session.authenticated = True
    session = asyncio.run(engine.update_activity("one", session))
    session = asyncio.run(engine.update_activity("two", session))
    session.authenticated = False
    session.language = "de"
    session = asyncio.run(engine.update_activity("three", session))
    assert host_in(session) == [
        None,
        {"authenticated": True},
        None,
        {"language": "de", "authenticated": False},
    ]
