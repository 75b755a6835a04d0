"""What a turn is stored with, so that whoever finds it knows whether it could go on."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from saywhy.runtime.identity import GOES_ON_FROM, RUNTIME, read_head
from saywhy.stores.memory import MemoryStore
from saywhy.values import loads_raw
from tests.flows.conftest import ask, engine_of, flow, local_tool, run, say, use
from tests.runtime.interrupted import engine_on, interrupted


async def cursor_of(store: MemoryStore) -> dict[str, Any]:
    claim = await store.claim("looker", 0.0, "c1")
    assert claim is not None
    assert claim.turn_doc is not None
    return loads_raw(claim.turn_doc)


async def test_what_is_stored_with_an_intent() -> None:
    """The format, the version for people, the routing, and the flows that are open."""
    store, till = await interrupted()
    engine = engine_on(store, till)
    stored = (await cursor_of(store))["identity"]
    (routing,) = [chart for chart in engine.charts if chart.kind == "routing"]
    main = engine.charts.find("Main")
    assert main is not None
    assert stored == {
        "runtime": RUNTIME,
        "version": version("saywhy"),
        "routing": routing.digest,
        "charts": [main.digest],
    }
    assert RUNTIME in GOES_ON_FROM


async def test_every_open_flow_is_named() -> None:
    """Sub-flows too, each once; closed ones are not."""
    seen: list[Any] = []
    store = MemoryStore()
    flows = [
        flow(run("Before"), run("Sub"), ask("x"), name="Main"),
        flow(say("gone"), name="Before"),
        flow(use("look"), ask("y"), name="Sub"),
    ]

    def look(args: dict[str, Any]) -> int:
        document = store._sessions["c1"].turns[1].doc  # pyright: ignore[reportPrivateUsage]
        seen.append(loads_raw(document or b"")["identity"]["charts"])
        return 1

    engine = engine_of(*flows, tools=[local_tool("look")], functions={"look": look}, store=store)
    await engine.take_turn("c1", "Main", user_id="ann")
    known = [engine.charts.find(name) for name in ("Main", "Sub")]
    assert seen == [sorted(chart.digest for chart in known if chart)]


async def test_a_session_at_rest_has_none() -> None:
    """Nothing of it runs on: it is the next turn's, whoever runs that."""
    store, till = await interrupted()
    await engine_on(store, till).recover()
    session = await store.session("c1")
    assert session is not None
    assert "identity" not in loads_raw(session.doc or b"")


def test_what_cannot_be_read_has_no_head() -> None:
    """It is damaged, which is said elsewhere; what is merely not known here can be read."""
    for damaged in (b"", b"{", b"[1]", b'{"cursor": {"frames": [{"name": "x"}]}}'):
        assert read_head(damaged) is None
    head = read_head(b'{"format": 9, "later": {}, "cursor": {"frames": [{"chart": "a"}]}}')
    assert head is not None
    assert (head.format, head.identity, [one.chart for one in head.frames()]) == (9, None, ["a"])
