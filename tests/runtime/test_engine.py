"""The object a host holds."""

from __future__ import annotations

import asyncio
import logging
import traceback
from pathlib import Path
from typing import Any

import pytest

from saywhy.errors import (
    ActiveFlowEmptyResponse,
    CallerError,
    DamagedSession,
    DefinitionError,
    FlowExecutionError,
    UnknownFlow,
)
from saywhy.runtime.engine import Engine
from saywhy.runtime.session import Session
from saywhy.stores.memory import MemoryStore
from saywhy.stores.sqlite import SqliteStore
from tests.runtime.conftest import Ledger


async def talk(engine: Engine, session: Session, *texts: str) -> Session:
    for text in texts:
        session = await engine.update_activity(text, session)
    return session


def flow(*steps: dict[str, Any], name: str = "Main", **keys: Any) -> dict[str, Any]:
    named = [{"id": f"s{number}", **step} for number, step in enumerate(steps)]
    return {"id": name.lower(), "name": name, "steps": named, **keys}


def engine_of(*flows: dict[str, Any], **options: Any) -> Engine:
    settings = {"guidance": {"enabled": False}, "validate_on_init": False, **options}
    return Engine(flows=list(flows), **settings)


async def test_a_conversation_runs_to_its_end(payment: dict[str, Any], ledger: Ledger) -> None:
    """A flow asks, calls its tool once and says what came of it."""
    engine = Engine(**payment)
    session = await talk(engine, engine.init_session("ann"), "pay", "Bob", "80")
    assert session.response == "Paid 80 to Bob."
    assert ledger.charges == [{"payee": "Bob", "amount": "80"}]
    assert session.last_turn_tool_calls[0]["tool"] == "Charge"
    assert session.frame is None


async def test_the_session_handed_in_stays_as_it_was(payment: dict[str, Any]) -> None:
    """A host that drops a turn's session can go on from the one before."""
    engine = Engine(**payment)
    asked = await talk(engine, engine.init_session("ann"), "pay")
    before = asked.to_json()
    await talk(engine, asked, "Bob", "80")
    assert asked.to_json() == before
    assert (await talk(engine, asked, "Eve")).response == "How much?"


async def test_every_rest_survives_json(payment: dict[str, Any]) -> None:
    """A session that goes through JSON after each turn says the same words."""
    engine = Engine(**payment)
    session = engine.init_session("ann", "c1")
    for text in ("pay", "Bob", "80"):
        session = engine.load_session((await talk(engine, session, text)).to_json())
    assert session.response == "Paid 80 to Bob."
    assert [len(one["steps"]) for one in session.completed_transactions] == [4]


async def test_sixty_four_conversations_share_one_engine(
    payment: dict[str, Any], ledger: Ledger
) -> None:
    """Nothing of one conversation reaches another on the same engine."""
    engine = Engine(**payment)

    async def one(number: int) -> str | None:
        session = engine.init_session(f"user{number}")
        for text in ("pay", f"payee{number}", str(number)):
            session = await engine.update_activity(text, session)
            await asyncio.sleep(0)
        return session.response

    replies = await asyncio.gather(*(one(number) for number in range(64)))
    assert replies == [f"Paid {number} to payee{number}." for number in range(64)]
    assert len(ledger.charges) == 64


async def test_a_step_that_raises_leaves_a_session_that_goes_on() -> None:
    """The error names the flow and carries the repaired session."""
    main = flow(
        {"type": "SAY-GET", "variable": "x", "value": "?"},
        {
            "type": "CASE",
            "branches": {"condition:x === 'ok'": {"id": "b", "type": "SAY", "value": "fine"}},
        },
    )
    engine = engine_of(main)
    session = await talk(engine, engine.init_session("ann"), "Main")
    with pytest.raises(FlowExecutionError, match="CASE step: no conditions matched") as caught:
        await engine.update_activity("no", session)
    error = caught.value
    assert (error.name, error.flow, error.step) == ("JSFEExecutionError", "Main", "/steps/1")
    assert error.session.frame is None
    assert error.session.transactions("failed")[0]["failureReason"].startswith("CASE step")
    assert (await talk(engine, error.session, "Main", "ok")).response == "fine"


async def test_an_error_in_a_sub_flow_ends_that_flow_only() -> None:
    """The caller's flow stays and runs on with the next message. spec: flow-engine 1.6"""
    engine = engine_of(
        flow({"type": "FLOW", "value": "Sub"}, {"type": "SAY", "value": "after"}),
        flow({"type": "SET", "variable": "v"}, name="Sub"),
    )
    with pytest.raises(FlowExecutionError, match="SET step requires both") as caught:
        await talk(engine, engine.init_session("ann"), "Main")
    assert caught.value.session.flow_stacks == [["Main"]]
    assert (await talk(engine, caught.value.session, "go on")).response == "after"


async def test_a_question_without_words_resets_the_flows_and_keeps_cargo() -> None:
    """A flow that waits without having asked is ended, by name; the next turn starts afresh."""
    engine = engine_of(flow({"type": "SAY-GET", "variable": "x", "value": ""}))
    session = engine.init_session("ann")
    session.cargo["kept"] = 1
    with pytest.raises(ActiveFlowEmptyResponse) as caught:
        await talk(engine, session, "Main")
    repaired = caught.value.session
    assert caught.value.name == "JSFEActiveFlowEmptyResponse"
    assert (repaired.flow_stacks, repaired.cargo) == ([], {"kept": 1})
    assert (await talk(engine, repaired, "hello")).response is None


async def test_a_loop_of_replacements_is_stopped() -> None:
    """A flow that replaces itself for ever is stopped at the limit, and the error says why."""
    engine = engine_of(flow({"type": "FLOW", "value": "Main", "callType": "replace"}), max_steps=50)
    with pytest.raises(FlowExecutionError, match="more than 50 steps") as caught:
        await talk(engine, engine.init_session("ann"), "Main")
    assert "callType replace" in caught.value.hint
    assert (await talk(engine, caught.value.session, "hello")).response is None


async def test_a_flow_that_calls_itself_too_deeply_is_stopped() -> None:
    """Twenty frames on one stack are enough. spec: flow-engine 1.5"""
    engine = engine_of(flow({"type": "FLOW", "value": "Main"}))
    with pytest.raises(FlowExecutionError, match="Maximum recursion depth reached"):
        await talk(engine, engine.init_session("ann"), "Main")


async def test_the_host_can_start_a_flow(payment: dict[str, Any]) -> None:
    """`start` names the flow and its first variables; nothing is read from the words."""
    engine = engine_of(flow({"type": "SAY-GET", "variable": "z", "value": "{{a}} {{b.c}}"}))
    session = engine.init_session("ann")
    entry = {
        "role": "user",
        "content": "hi",
        "start": {"flow": "main", "arguments": {"a": 5, "b": {"c": 6}}},
    }
    started = await engine.update_activity(entry, session)
    assert started.response == "5 6"
    with pytest.raises(UnknownFlow, match='no flow has the id or name "mian"') as caught:
        await engine.update_activity({**entry, "start": {"flow": "mian"}}, started)
    assert caught.value.hint == 'did you mean "main"?'


async def test_an_assistant_entry_runs_nothing(payment: dict[str, Any]) -> None:
    """What the host said itself is taken in, and there is no response."""
    engine = Engine(**payment)
    session = await talk(engine, engine.init_session("ann"), "lovely weather")
    session = await engine.update_activity({"role": "assistant", "content": "It is."}, session)
    assert session.response is None
    assert {role: turn["content"] for role, turn in session.last_chat_turn.items()} == {
        "user": "lovely weather",
        "assistant": "It is.",
    }
    assert (await talk(engine, session, "pay")).last_chat_turn == {}


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"role": "system", "content": "x"}, "Only 'user' and 'assistant' roles are supported"),
        ({"role": "user"}, "the entry has no content"),
        ({"role": "user", "content": "x", "start": {"arguments": {}}}, "start needs the name"),
        (7, "an entry is text or a mapping, not int"),
    ],
)
async def test_an_entry_that_cannot_be_read_is_refused(
    payment: dict[str, Any], entry: Any, problem: str
) -> None:
    """The caller's mistake is told before anything changes."""
    engine = Engine(**payment)
    session = engine.init_session("ann")
    before = session.to_json()
    with pytest.raises(CallerError, match=problem):
        await engine.update_activity(entry, session)
    assert session.to_json() == before


async def test_something_that_is_no_session_is_refused(payment: dict[str, Any]) -> None:
    """The id of a conversation, for instance, is told from the conversation."""
    wrong: Any = "c-1"
    with pytest.raises(CallerError, match="a session is wanted, not str") as caught:
        await Engine(**payment).update_activity("pay", wrong)
    assert caught.value.hint == "begin with init_session, go on with what a turn returned"


async def test_a_session_of_other_flows_is_refused_by_name(payment: dict[str, Any]) -> None:
    """The error says which frame and which flow; the session is untouched."""
    engine = Engine(**payment)
    data = (await talk(engine, engine.init_session("ann"), "pay")).to_json()
    other = engine_of(flow({"type": "SAY", "value": "x"}))
    session = other.load_session(data)
    with pytest.raises(DamagedSession, match=r"frame 0 \(flow Pay\)"):
        await other.update_activity("Bob", session)
    assert session.flow_stacks == [["Pay"]]


async def test_a_damaged_frame_is_named(payment: dict[str, Any]) -> None:
    """A step that does not exist is an error, not a silent restart."""
    engine = Engine(**payment)
    data = (await talk(engine, engine.init_session("ann"), "pay")).to_json()
    session = engine.load_session(data.replace(b'"/steps/0"', b'"/steps/99"'))
    with pytest.raises(DamagedSession, match=r"frame 0 \(flow Pay\): the flow has no step"):
        await engine.update_activity("Bob", session)


async def test_missing_stacks_begin_afresh_with_a_warning(
    payment: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """Cargo is kept when the stacks of a stored session are gone. spec: flow-engine 1.2"""
    engine = Engine(**payment)
    first = engine.init_session("ann")
    first.cargo["plan"] = "gold"
    session = await talk(engine, first, "pay")
    import json

    tree = json.loads(session.to_json())
    tree["cursor"]["frames"] = None
    loaded = engine.load_session(json.dumps(tree))
    assert "it goes on with fresh ones" in caplog.text
    assert (loaded.flow_stacks, loaded.cargo) == ([], {"plan": "gold"})
    assert (await talk(engine, loaded, "pay")).response == "To whom?"


async def test_the_host_changes_cargo_between_turns() -> None:
    """What a host puts into cargo is seen by the next turn, and recorded as the host's."""
    engine = engine_of(flow({"type": "SAY-GET", "variable": "x", "value": "{{cargo.plan}}"}))
    session = engine.init_session("ann")
    session.cargo["plan"] = "gold"
    session = await talk(engine, session, "Main")
    assert session.response == "gold"
    written = [op.key for commit in session.commits for op in commit.ops]
    assert ("cargo", "plan") in written


class Silent:
    """A logger with every method."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def _note(self, text: str) -> None:
        self.lines.append(text)

    debug = info = warn = error = _note


async def test_a_failed_expression_is_logged_with_its_place() -> None:
    """The user sees nothing of it; the host's log says what and where."""
    log = Silent()
    engine = engine_of(
        flow({"type": "SAY-GET", "variable": "x", "value": "Hi {{ghost}}!"}), logger=log
    )
    session = await talk(engine, engine.init_session("ann"), "Main")
    assert session.response == "Hi {{ghost}}!"
    assert any("ghost is not defined" in line and "/steps/0" in line for line in log.lines)


def test_a_logger_without_a_method_is_replaced(caplog: pytest.LogCaptureFixture) -> None:
    """A half logger cannot break a turn later on."""
    engine = Engine(logger=object())
    assert "has no debug(), info(), warn(), error()" in caplog.text
    assert isinstance(engine.logger, logging.Logger)


def test_the_logger_can_be_set_at_any_time() -> None:
    """`engine.logger = x` holds from the next line on."""
    engine, log = Engine(), Silent()
    engine.logger = log
    assert engine.logger is log


def test_validation_reports_and_strict_refuses() -> None:
    """An engine starts with doubtful flows unless it is told to be strict."""
    broken = flow({"type": "SAY"}, primary=True)
    report = engine_of(broken).validate()
    assert not report.is_valid
    assert report.figures["flows"] == 1
    with pytest.raises(DefinitionError) as caught:
        engine_of(broken, strict=True)
    assert any("value" in problem.message for problem in caught.value.problems)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"user_id": 7}, "user_id of a conversation is text, not int"),
        ({"user_id": "ann", "session_id": 7}, "session_id of a conversation is text, not int"),
        ({"user_id": "ann", "language": ["es"]}, "language of a conversation is text, not list"),
    ],
)
def test_a_conversation_that_could_not_be_loaded_again_is_not_begun(
    given: dict[str, Any], problem: str
) -> None:
    """Ids and languages are texts in the document of a session."""
    with pytest.raises(CallerError, match=problem):
        Engine().init_session(**given)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"partial_match": "most"}, "partial_match is any or safe, not 'most'"),
        ({"commands": ["stop"]}, "no command is called 'stop'"),
        ({"ai_timeout": -1}, "ai_timeout is milliseconds, 0 for no limit, not -1"),
        ({"ai_timeout": "2 s"}, "ai_timeout is milliseconds, 0 for no limit, not '2 s'"),
        ({"ai_timeout": float("nan")}, "ai_timeout is milliseconds, 0 for no limit, not nan"),
        ({"error_text": "x"}, "error_text is hidden, reference or empty, not 'x'"),
        ({"store": "talk.db"}, "store is a store, not a path"),
        ({"functions": [len]}, "functions is a dict from name to function, not list"),
        ({"functions": {"fee": 2}}, '"fee" among the functions is int, which cannot be called'),
    ],
)
def test_an_option_that_does_not_exist_is_refused(options: dict[str, Any], problem: str) -> None:
    """A typing mistake in an option is found when the engine is made."""
    with pytest.raises(CallerError, match=problem):
        Engine(**options)


async def test_an_async_function_is_awaited_in_the_midst_of_an_expression() -> None:
    """SAY, SET and CASE may call async functions, and go on with what they give."""

    async def rate(currency: str) -> float:
        await asyncio.sleep(0)
        return {"EUR": 2.0}[currency]

    engine = engine_of(
        flow(
            {"type": "SET", "variable": "r", "value": "{{rate('EUR') * 10}}"},
            {
                "type": "CASE",
                "branches": {
                    "condition:rate('EUR') > 1": {
                        "id": "b",
                        "type": "SAY",
                        "value": "{{rate('EUR')}} and {{r}}",
                    },
                    "default": {"id": "c", "type": "SAY", "value": "no"},
                },
            },
        ),
        functions={"rate": rate},
    )
    assert (await talk(engine, engine.init_session("ann"), "Main")).response == "2 and 20"


STORES = ("memory", "sqlite")


def store_of(kind: str, folder: Path) -> Any:
    return MemoryStore() if kind == "memory" else SqliteStore(folder / "store.sqlite3")


@pytest.mark.parametrize("kind", STORES)
async def test_turns_on_a_store(
    kind: str, payment: dict[str, Any], ledger: Ledger, tmp_path: Path
) -> None:
    """A stored conversation needs no session in the host's hands."""
    async with Engine(**payment, store=store_of(kind, tmp_path)) as engine:
        replies = [
            await engine.take_turn("c1", text, user_id="ann", message_id=f"m{number}")
            for number, text in enumerate(("pay", "Bob", "80"))
        ]
        assert [reply.response for reply in replies] == ["To whom?", "How much?", "Paid 80 to Bob."]
        assert [reply.turn_no for reply in replies] == [1, 2, 3]
        again = await engine.take_turn("c1", "80", user_id="ann", message_id="m2")
        assert (again.response, again.repeated) == ("Paid 80 to Bob.", True)
        assert again.last_turn_tool_calls == replies[2].last_turn_tool_calls
        assert len(ledger.charges) == 1
        trace = await engine.trace("c1")
        assert trace.turns == [1, 2, 3]


@pytest.mark.parametrize("kind", STORES)
async def test_a_stored_conversation_is_read_between_turns(
    kind: str, payment: dict[str, Any], tmp_path: Path
) -> None:
    """The frame of a stored session says what is asked."""
    async with Engine(**payment, store=store_of(kind, tmp_path)) as engine:
        assert await engine.session("c1") is None
        await engine.take_turn("c1", "pay", user_id="ann", cargo={"plan": "gold"}, language="es")
        session = await engine.session("c1")
        assert session is not None
        frame = session.frame
        assert frame is not None
        assert (frame.flow_name, frame.pending_variable) == ("Pay", "payee")
        assert frame.pending_variable_context == "To whom?"
        assert (session.cargo, session.language) == ({"plan": "gold"}, "es")
        assert set(frame.to_dict()) >= {"flowStepsStack", "contextStack", "transaction"}


@pytest.mark.parametrize("kind", STORES)
async def test_the_same_message_fifty_times_at_once_is_one_turn(
    kind: str, payment: dict[str, Any], ledger: Ledger, tmp_path: Path
) -> None:
    """A channel that repeats itself gets one reply, fifty times."""
    async with Engine(**payment, store=store_of(kind, tmp_path)) as engine:
        for number, text in enumerate(("pay", "Bob")):
            await engine.take_turn("c1", text, message_id=f"m{number}")
        replies = await asyncio.gather(
            *(engine.take_turn("c1", "80", message_id="m9") for _ in range(50))
        )
        assert {reply.response for reply in replies} == {"Paid 80 to Bob."}
        assert len(ledger.charges) == 1
        assert sum(not reply.repeated for reply in replies) == 1


@pytest.mark.parametrize("kind", STORES)
async def test_messages_of_one_conversation_run_one_after_the_other(
    kind: str, tmp_path: Path
) -> None:
    """Two messages at once are two turns, in the order they were accepted."""
    main = flow(
        {"type": "SAY-GET", "variable": "a", "value": "a?"},
        {"type": "SAY-GET", "variable": "b", "value": "b?"},
        {"type": "SAY", "value": "{{a}} {{b}}"},
    )
    async with engine_of(main, store=store_of(kind, tmp_path)) as engine:
        await engine.take_turn("c1", "Main")
        replies = await asyncio.gather(engine.take_turn("c1", "one"), engine.take_turn("c1", "two"))
        assert sorted(str(reply.response) for reply in replies) == ["b?", "one two"]


@pytest.mark.parametrize("kind", STORES)
async def test_a_turn_that_raises_is_recorded_and_the_conversation_goes_on(
    kind: str, tmp_path: Path
) -> None:
    """The same message again gives the same error; the next message starts afresh."""
    engine = engine_of(
        flow({"type": "SET", "variable": "v"}),
        flow({"type": "SAY", "value": "hello"}, name="Other"),
        store=store_of(kind, tmp_path),
    )
    async with engine:
        for _ in range(2):
            with pytest.raises(FlowExecutionError, match="SET step requires both"):
                await engine.take_turn("c1", "Main", message_id="m1")
        assert (await engine.take_turn("c1", "Other")).response == "hello"
        session = await engine.session("c1")
        assert session is not None
        assert [one["state"] for one in session.transactions()] == ["failed", "completed"]


async def test_a_turn_without_the_user_is_told_what_is_missing(payment: dict[str, Any]) -> None:
    """A conversation that belongs to somebody is not gone on with by nobody."""
    async with Engine(store=MemoryStore(), **payment) as engine:
        await engine.take_turn("c1", "pay", user_id="ann")
        with pytest.raises(CallerError) as caught:
            await engine.take_turn("c1", "80")
    assert str(caught.value) == 'conversation "c1" belongs to a user, and no user_id was given'
    assert caught.value.hint == "hand over the user_id it was begun with"


async def test_an_engine_without_a_store_says_so(payment: dict[str, Any]) -> None:
    """`take_turn` needs a place to keep conversations; a traceback shows what to do about it."""
    with pytest.raises(CallerError, match="this engine has no store") as caught:
        await Engine(**payment).take_turn("c1", "pay")
    shown = "".join(traceback.format_exception_only(caught.value))
    assert shown.endswith("this engine has no store\n    Engine(..., store=SqliteStore(path))\n")


async def test_cargo_may_be_called_like_one_of_our_tags() -> None:
    """A host's only key may be `$date`; it comes back as it went."""
    engine = engine_of(flow({"type": "SAY-GET", "variable": "$num", "value": "?"}))
    session = engine.init_session("ann")
    session.cargo["$date"] = "tomorrow"
    session = await talk(engine, session, "Main")
    loaded = engine.load_session(session.to_json())
    assert loaded.cargo == {"$date": "tomorrow"}
    loaded = engine.load_session((await talk(engine, loaded, "x")).to_json())
    assert loaded.cargo == {"$date": "tomorrow"}
