"""Promise: a call of unknown outcome goes on as its tool, its author or a person says, in this
order: `reconcile`, `onUnknown`, `onFail`, a rest that people end."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import FlowExecutionError
from saywhy.runtime.engine import Engine
from saywhy.runtime.session import Session
from saywhy.testing import FakeClock
from tests.flows.conftest import NOW, Lines, ask, engine_of, flow, local_tool, say, talk, use

UNKNOWN = (
    "I asked for pay, but it is not known yet whether it happened. "
    "Somebody is looking at it; please do not ask for it again meanwhile."
)
STILL = "It is not known yet whether pay happened. Somebody is looking at it."


class Till:
    """A payment service that is too slow the first few times."""

    def __init__(self, slow: int = 1, finding: Any = None) -> None:
        self.clock = FakeClock(NOW)
        self.slow = slow
        self.finding = finding
        self.charges: list[tuple[Any, str]] = []
        self.asked: list[tuple[Any, str]] = []

    async def pay(self, args: dict[str, Any], *, context: Any) -> Any:
        """Charge, and answer in time if it is not one of the slow ones."""
        self.charges.append((args["n"], context.key))
        if len(self.charges) <= self.slow:
            await self.clock.sleep(60)
        return {"id": len(self.charges)}

    async def look(self, args: dict[str, Any], *, context: Any) -> Any:
        """What became of a charge."""
        self.asked.append((args["n"], context.key))
        found = self.finding(len(self.asked)) if callable(self.finding) else self.finding
        if isinstance(found, Exception):
            raise found
        return found

    def engine(self, *, tool: dict[str, Any] | None = None, **step: Any) -> Engine:
        """An engine whose flow asks, pays and tells."""
        main = flow(
            ask("n", "how much?"),
            use("pay", variable="r", args={"n": "{{n}}"}, **step),
            say("paid {{r.id}}"),
            ask("more", "more?"),
            interruptable=True,
        )
        other = flow(ask("x", "sure?"), say("good"), name="Other", primary=True)
        return engine_of(
            main,
            other,
            tools=[{**local_tool("pay"), **(tool or {})}],
            functions={"pay": self.pay, "look": self.look},
            clock=self.clock,
        )


async def paid(till: Till, **options: Any) -> tuple[Engine, Session]:
    """The conversation after the payment."""
    engine = till.engine(**options)
    return engine, await talk(engine, "Main", "5")


RECONCILE = {"reconcile": "look"}


async def test_nobody_knows() -> None:
    """The user is told, twice in different words, and what they write moves nothing."""
    till = Till()
    engine, session = await paid(till)
    assert session.response == UNKNOWN
    session = await talk(engine, "and now?", session=session)
    assert session.response == STILL
    assert session.flow_stacks == [["Main"]]
    assert len(till.charges) == 1
    (open_one,) = session.unknown
    assert open_one == {
        "id": "c1:2:8", "kind": "settle", "tool": "pay", "args": {"n": "5"}, "since": NOW + 5000,
        "turn": 2, "seq": open_one["seq"], "flow": "Main",
        "error": "Tool execution timeout after 5000ms - pay",
    }  # fmt: skip
    assert open_one["id"] == till.charges[0][1]


async def test_settled_as_done() -> None:
    """The flow goes on with what the person says it gave."""
    engine, session = await paid(Till())
    session = await engine.settle(session, done={"id": 77}, by="bob")
    assert session.response == "paid 77\n\nmore?"
    assert session.unknown == []
    assert session.frame is not None
    assert session.frame.variables["r"] == {"id": 77}


async def test_settled_as_failed() -> None:
    """The flow fails openly, as it would have at once."""
    engine, session = await paid(Till())
    session = await engine.settle(session, failed="no money")
    assert session.response == "pay did not work: no money"
    assert session.flow_stacks == []


async def test_settled_as_not_done() -> None:
    """The call is made again, with the same arguments and under the same key."""
    till = Till()
    engine, session = await paid(till)
    session = await engine.settle(session, not_done=True)
    assert session.response == "paid 2\n\nmore?"
    assert till.charges == [("5", "c1:2:8"), ("5", "c1:2:8")]


async def test_settled_twice_over() -> None:
    """A call made again that is unknown again is settled anew; the first word is spent."""
    till = Till(slow=2)
    engine, session = await paid(till)
    first = session.unknown[0]
    session = await engine.settle(session, not_done=True)
    assert session.response == UNKNOWN
    second = session.unknown[0]
    assert (second["id"], second["seq"] > first["seq"]) == (first["id"], True)
    session = await engine.settle(session, done={"id": 1})
    assert session.response == "paid 1\n\nmore?"


STEPS: list[tuple[dict[str, Any], str]] = [
    ({"onUnknown": say("{{r.tool}} {{r.key}} {{r.unknown}}")}, "pay c1:2:8 true"),
    ({"onUnknown": [say("a {{r.tool}}"), say("b")]}, "a pay\n\nb"),
    ({"onFail": say("sorry: {{r}}")}, "sorry: Tool execution timeout after 5000ms - pay"),
    ({"onUnknown": say("one"), "onFail": say("two")}, "one"),
]


@pytest.mark.parametrize(("step", "said"), STEPS)
async def test_what_the_author_wrote(step: dict[str, Any], said: str) -> None:
    """`onUnknown` before `onFail` before a rest; then the flow goes on."""
    till = Till()
    step = {
        name: [{"id": f"x{i}", **one} for i, one in enumerate(given)]
        if isinstance(given, list)
        else {"id": "x", **given}
        for name, given in step.items()
    }
    _, session = await paid(till, **step)
    assert session.response is not None
    assert session.response.startswith(f"{said}\n\n")
    assert session.response.endswith("more?")
    assert (session.unknown, len(till.charges)) == ([], 1)


async def test_on_unknown_may_replace_the_flow() -> None:
    """As `onFail` it goes over to a flow for good unless it says `call`."""
    step = {"onUnknown": {"id": "x", "type": "FLOW", "value": "Other"}}
    _, session = await paid(Till(), **step)
    assert (session.response, session.flow_stacks) == ("sure?", [["Other"]])


FINDINGS: list[tuple[Any, dict[str, Any], str, int]] = [
    ({"status": "done", "result": {"id": 9}}, {}, "paid 9\n\nmore?", 1),
    ({"status": "failed", "error": "no money"}, {}, "pay did not work: no money", 1),
    ({"status": "failed", "error": "no money"}, {"onFail": say("sorry: {{r}}")},
     "sorry: no money", 1),
    ({"status": "unknown"}, {}, UNKNOWN, 1),
    ({"status": "unknown"}, {"onUnknown": say("hm")}, "hm", 1),
    (RuntimeError("down"), {}, UNKNOWN, 1),
    ({"status": "not_done"}, {}, "paid 2\n\nmore?", 2),
]  # fmt: skip


@pytest.mark.parametrize(("finding", "step", "said", "charges"), FINDINGS)
async def test_what_the_tool_finds_out(
    finding: Any, step: dict[str, Any], said: str, charges: int
) -> None:
    """Its `reconcile` function is asked first, with the call's own arguments and key."""
    till = Till(finding=finding)
    step = {name: {"id": "x", **given} for name, given in step.items()}
    _, session = await paid(till, tool=RECONCILE, **step)
    assert session.response is not None
    assert session.response.startswith(said)
    assert till.asked == [("5", "c1:2:8")]
    assert till.charges == [("5", "c1:2:8")] * charges


async def test_not_done_is_believed_a_few_times() -> None:
    """A call that never gets through is made three times, then it has failed."""
    till = Till(slow=99, finding={"status": "not_done"})
    _, session = await paid(till, tool=RECONCILE)
    assert session.response == "pay did not work: pay was called 3 times and did not act"
    assert len(till.charges) == 3


async def test_a_reconcile_function_in_trouble_is_logged() -> None:
    """What went wrong is in the log; the call stays unknown."""
    till = Till(finding=RuntimeError("down"))
    engine, session = await paid(till, tool=RECONCILE)
    assert isinstance(engine.logger, Lines)
    assert engine.logger.lines == ["W what became of a call of pay could not be found out: down"]
    assert session.response == UNKNOWN


async def test_the_authors_retries_come_first() -> None:
    """Whoever writes `maxRetries` has decided; what is still in doubt afterwards is unknown."""
    till = Till(slow=99)
    _, session = await paid(till, maxRetries=1)
    assert (session.response, len(till.charges)) == (UNKNOWN, 2)
    till = Till(slow=1)
    _, session = await paid(till, maxRetries=1)
    assert session.response == "paid 2\n\nmore?"


async def test_a_later_failure_does_not_end_the_doubt() -> None:
    """The first attempt may still have acted, whatever the second one says."""
    till = Till()
    real = till.pay

    async def pay(args: dict[str, Any], *, context: Any) -> Any:
        if till.charges:
            raise RuntimeError("refused")
        return await real(args, context=context)

    till.pay = pay  # type: ignore[method-assign]
    _, session = await paid(till, maxRetries=1)
    assert session.response == UNKNOWN


@pytest.mark.parametrize("effect", ["reads", "repeatable"])
async def test_other_effects_never_rest(effect: str) -> None:
    """They were tried again, and fail in the end."""
    till = Till(slow=99)
    _, session = await paid(till, tool={"effect": effect})
    assert session.response == "pay did not work: Tool execution timeout after 5000ms - pay"
    assert len(till.charges) == 3


async def test_cancelled_meanwhile() -> None:
    """The flow ends; the call stays listed, and settling it changes nothing but the list."""
    engine, session = await paid(Till())
    session = await talk(engine, "cancel", session=session)
    assert session.flow_stacks == []
    assert len(session.unknown) == 1
    session = await engine.settle(session, done={"id": 1}, by="bob")
    assert (session.response, session.unknown) == (None, [])


async def test_interrupted_meanwhile() -> None:
    """Another flow may run; when it is over, the call is still not made again."""
    till = Till()
    engine, session = await paid(till)
    session = await talk(engine, "Other", session=session)
    assert session.flow_stacks == [["Main"], ["Other"]]
    session = await talk(engine, "yes", session=session)
    assert session.response is not None
    assert session.response.startswith("good")
    assert session.response.endswith(STILL)
    assert (session.flow_stacks, len(till.charges)) == ([["Main"]], 1)
    session = await engine.settle(session, done={"id": 3})
    assert session.response == "paid 3\n\nmore?"


async def test_settled_while_interrupted() -> None:
    """The interruption goes on undisturbed; then the flow goes on with what was said."""
    till = Till()
    engine, session = await paid(till)
    session = await talk(engine, "Other", session=session)
    session = await engine.settle(session, done={"id": 3})
    assert (session.response, session.flow_stacks) == (None, [["Main"], ["Other"]])
    session = await talk(engine, "yes", session=session)
    assert session.response is not None
    assert session.response.startswith("good")
    assert session.response.endswith("paid 3\n\nmore?")
    assert len(till.charges) == 1


async def test_help_and_status_meanwhile() -> None:
    """Commands work as at any rest."""
    engine, session = await paid(Till())
    session = await talk(engine, "help", session=session)
    assert session.response is not None
    assert session.response.startswith("Flow Help")
    assert len(session.unknown) == 1


async def test_own_words_and_none() -> None:
    """The sentences can be replaced; one that is empty ends no flow."""
    for words, said in (("Hold on: {{toolName}}", "Hold on: pay"), (" ", None)):
        till = Till()
        main = flow(use("pay", args={"n": 1}), say("never"))
        engine = engine_of(
            main,
            tools=[local_tool("pay")],
            functions={"pay": till.pay},
            clock=till.clock,
            messages={"en": {"tool_unknown": words}},
        )
        session = await talk(engine, "Main")
        assert (session.response or None, len(session.unknown)) == (said, 1)


async def test_in_spanish() -> None:
    """Every language of ours has the sentences."""
    till = Till()
    engine = till.engine()
    session = engine.init_session("u", "c1", "es")
    session = await talk(engine, "Main", "5", "hola", session=session)
    assert session.response == "Aún no se sabe si pay se realizó. Alguien lo está revisando."


async def test_a_record_that_is_gone_calls_nothing() -> None:
    """A session that lost what it waits for fails openly instead of calling once more."""
    till = Till()
    engine, session = await paid(till)
    del session.state.scopes["session"]["outside"]
    with pytest.raises(FlowExecutionError, match="is not on record any more"):
        await talk(engine, "hello", session=session)
    assert len(till.charges) == 1
