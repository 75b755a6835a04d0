"""Promise: what is made of a sensitive value is sensitive, wherever the next step finds it."""

from __future__ import annotations

from typing import Any

from saywhy.chart.commit import (
    Answered,
    Asked,
    Commit,
    Condition,
    Decision,
    FunctionCall,
    Op,
)
from saywhy.trace.masking.declared import Declared
from saywhy.trace.masking.kept import touches
from saywhy.trace.masking.taint import Taint
from saywhy.values import FrozenDict, dumps, freeze, loads_raw

MARK = "[X]"
SSN = ("cargo", "customer", "ssn")


def taint_of(kept: Any = None, **declared: Any) -> Taint:
    """A taint with what is declared."""
    return Taint(Declared(**declared), MARK, kept)


def commit(seq: int = 1, kind: str = "SET", **more: Any) -> Commit:
    """A step of the flow F."""
    given: dict[str, Any] = {"turn": 1, "frame": 1, "chart": "d", "flow": "F", "node": "/n"}
    return Commit(seq=seq, kind=kind, **{**given, **more})


def put(name: str, value: Any) -> Op:
    """A variable that is set."""
    return Op("set", ("v1", name), freeze(value))


def test_a_declared_variable_is_masked_when_its_flow_has_begun() -> None:
    """Whoever writes it; other variables are not."""
    taint = taint_of(variables={"F": frozenset({"a"})})
    opened = taint.follow(
        commit(facts={"target": "F", "scope": "v1"}, ops=(put("a", "secret"), put("b", "open")))
    )
    assert [op.value for op in opened.ops] == [MARK, "open"]
    assert taint.follow(commit(ops=(put("a", 5),))).ops == (put("a", MARK),)
    assert taint.follow(commit(ops=(put("a", None),))).ops == (put("a", None),)


def test_what_is_made_of_it_is_sensitive_from_then_on() -> None:
    """Booleans, lengths and texts; the chosen branch stays."""
    taint = taint_of(paths=(SSN,))
    assert taint.follow(commit(reads=(SSN,), ops=(put("n", 11),))).ops == (put("n", MARK),)
    read = ((("v1", "n"), 11), (("v1", "m"), 5))
    decided = Decision("long", (Condition("n > m", True, "long", read),))
    seen = taint.follow(commit(2, "CASE", reads=(("v1", "n"), ("v1", "m")), decision=decided))
    assert seen.decision is not None
    assert seen.decision.chosen == "long"
    assert [value for _, value in seen.decision.conditions[0].read] == [MARK, 5]
    assert seen.decision.conditions[0].result is True
    call = FunctionCall("f", freeze([1, 2]), "gave 4711", "failed 4711")
    seen = taint.follow(commit(3, reads=(("v1", "n"),), calls=(call,), ops=(put("o", True),)))
    assert seen.calls == (FunctionCall("f", freeze([MARK, MARK]), MARK, MARK),)
    assert seen.ops == (put("o", MARK),)
    assert taint.follow(commit(4, ops=(put("p", "clean"),))).ops == (put("p", "clean"),)


def test_an_item_of_a_list_is_sensitive_where_every_item_was_declared_so() -> None:
    """Read or written by its number; what stands beside it in the item is not."""
    taint = taint_of(answers={"people": (("list", "ssn"),)})
    answer = freeze({"list": [{"ssn": 77123, "city": "Bern"}]})
    took = Answered("tool", "people", answer)
    taint.follow(commit(kind="CALL-TOOL", answered=took, ops=(put("r", answer),)))
    one = ("v1", "r", "list", 0)
    seen = taint.follow(commit(2, reads=((*one, "ssn"),), ops=(put("double", 154246),)))
    assert seen.ops == (put("double", MARK),)
    assert not taint.covers((*one, "city"))
    written = Op("set", ("v1", "r", "list", 1, "ssn"), 88123)
    assert taint.follow(commit(3, ops=(written,))).ops[0].value == MARK
    assert touches(taint.kept(), [(*one, "ssn")])
    whole = Op("set", ("v1", "r", "list"), freeze([{"ssn": "99-45", "city": "Bern"}]))
    assert taint.follow(commit(4, ops=(whole,))).ops[0].value == freeze(
        [{"ssn": MARK, "city": "Bern"}]
    )
    assert "99-45" in taint.texts


def test_a_path_may_name_one_item_of_a_list() -> None:
    """By a number in the author's text; the other items stay."""
    taint = taint_of(paths=(("cargo", "people", "1", "ssn"),))
    people = Op("set", ("cargo", "people"), freeze([{"ssn": "11-45"}, {"ssn": "22-45"}]))
    seen = taint.follow(commit(ops=(people,)))
    assert seen.ops[0].value == freeze([{"ssn": "11-45"}, {"ssn": MARK}])
    assert taint.texts == ["22-45", "2245"]
    assert taint.covers(("cargo", "people", 1, "ssn"))
    assert not taint.covers(("cargo", "people", 0, "ssn"))


def test_only_the_path_is_sensitive_not_what_stands_beside_it() -> None:
    """Reading the sibling is harmless, reading what is around it is not."""
    taint = taint_of(paths=(SSN,))
    customer = {"ssn": "123-45", "city": "Bern"}
    seen = taint.follow(commit(ops=(Op("set", ("cargo", "customer"), freeze(customer)),)))
    assert seen.ops[0].value == freeze({"ssn": MARK, "city": "Bern"})
    assert taint.texts == ["123-45", "12345"]
    assert not taint.covers(("cargo", "customer", "city"))
    assert taint.covers(("cargo", "customer"))
    assert taint.covers(("cargo",))
    assert taint.covers((*SSN, "part"))


def test_of_several_arguments_the_clean_ones_stay() -> None:
    """The parts of a step say what each argument is made of; the answer is sensitive."""
    parts = {("F", "/n"): {"who": (("cargo", "customer", "ssn"),), "how": (("mode",),)}}
    taint = taint_of(paths=(SSN,), parts=parts)
    asked = Asked("tool", "look", freeze({"who": "123-45", "how": "fast"}))
    reads = (SSN, ("v1", "mode"))
    seen = taint.follow(commit(1, "CALL-TOOL", phase="asked", reads=reads, asked=asked))
    assert seen.asked == Asked("tool", "look", FrozenDict({"who": MARK, "how": "fast"}))
    shown = taint.hidden_arguments(1, {"who": "123-45", "how": "fast"})
    assert shown == {"who": MARK, "how": "fast"}
    again = taint_of(loads_raw(dumps(taint.kept())), paths=(SSN,), parts=parts)
    answered = Answered("tool", "look", freeze({"x": 1}), "it failed on 123-45")
    seen = again.follow(commit(2, "CALL-TOOL", answered=answered, ops=(put("r", {"x": 1}),)))
    assert seen.ops == (put("r", MARK),)
    assert seen.answered == Answered("tool", "look", MARK, MARK)
    assert again.covers(("v1", "r"))
    assert again.hidden_arguments(1, {"who": "x"}) == {"who": "x"}


def test_what_tools_declare_of_arguments_and_answers() -> None:
    """Only those parts; an item of a list as any other."""
    taint = taint_of(arguments={"look": (("who",),)}, answers={"list": (("people", "ssn"),)})
    asked = Asked("tool", "look", freeze({"who": "x-4711", "how": "fast"}))
    seen = taint.follow(commit(1, "CALL-TOOL", phase="asked", asked=asked))
    assert seen.asked is not None
    assert seen.asked.args == freeze({"who": MARK, "how": "fast"})
    people = {"people": [{"ssn": "y-4712", "city": "Bern"}]}
    answered = Answered("tool", "list", freeze(people))
    seen = taint.follow(commit(2, "CALL-TOOL", frame=2, answered=answered, ops=(put("r", people),)))
    masked = freeze({"people": [{"ssn": MARK, "city": "Bern"}]})
    assert seen.ops == (put("r", masked),)
    assert seen.answered is not None
    assert seen.answered.value == masked
    assert taint.texts == ["y-4712", "4712"]


def test_what_a_tool_answers_may_be_harmless_in_part() -> None:
    """Where its author says so, although something sensitive was handed in; the rest is not."""
    spots = {"look": (("id",), ("list", "code"))}
    taint = taint_of(paths=(SSN,), harmless=spots, answers={"look": (("list", "inner"),)})
    taint.follow(commit(asked=Asked("tool", "look", freeze({"who": "123-45"})), reads=(SSN,)))
    answer = {
        "id": "order 4711",
        "name": "Ann Smithson",
        "list": [{"code": "code 4712", "inner": "deep 99"}, {"code": {"any": 1}, "more": True}],
    }
    value = freeze(answer)
    seen = taint.follow(
        commit(2, "CALL-TOOL", answered=Answered("tool", "look", value), ops=(put("r", value),))
    )
    shown = freeze(
        {
            "id": "order 4711",
            "name": MARK,
            "list": [{"code": "code 4712", "inner": MARK}, {"code": {"any": 1}, "more": MARK}],
        }
    )
    assert seen.answered is not None
    assert seen.answered.value == shown
    assert seen.ops[0].value == shown
    assert set(taint.texts) == {"Ann Smithson", "deep 99"}
    for key, is_sensitive in (("id", False), ("name", True), ("list", True)):
        assert taint.covers(("v1", "r", key)) == is_sensitive
    assert not taint.covers(("v1", "r", "list", 1, "code"))
    assert taint.follow(commit(3, reads=(("v1", "r", "id"),), ops=(put("x", 7),))).ops[0].value == 7
    seen = taint.follow(commit(4, reads=(("v1", "r", "name"),), ops=(put("y", 7),)))
    assert seen.ops[0].value == MARK


def test_a_step_of_which_all_is_sensitive_has_no_harmless_part() -> None:
    """`pii` on the step says more than `pii` false in the tool."""
    taint = taint_of(steps=frozenset([("F", "/n")]), harmless={"look": ((),)})
    took = Answered("tool", "look", freeze({"id": "order 4711"}))
    seen = taint.follow(commit(kind="CALL-TOOL", answered=took, ops=(put("r", took.value),)))
    assert seen.ops[0].value == MARK


def test_a_text_is_shown_as_its_step_says() -> None:
    """A template knows which part is sensitive; what a RETURN computes is masked whole."""
    taint = taint_of(paths=(SSN,))
    queue = ("session", "queue")
    text = "Hello 123-45, goodbye"
    said = Op("append", queue, freeze([text, 1]))
    secrets = ((text, "Hello [X], goodbye"),)
    seen = taint.follow(commit(1, "SAY", reads=(SSN,), ops=(said,), secrets=secrets))
    assert seen.ops == (said,)
    assert taint.shown[text] == "Hello [X], goodbye"
    reply = Op("set", ("turn", "reply"), freeze([[text, 1], ["Bye 54-321", 2]]))
    seen = taint.follow(commit(2, "RETURN", reads=(SSN, queue), ops=(reply,)))
    assert seen.ops[0].value == [[text, 1], [MARK, 2]]
    assert not taint.covers(("turn", "reply"))


def test_words_with_a_sensitive_answer_are_masked_afterwards() -> None:
    """Commits that were kept before it was known, and what a model was told of them."""
    taint = taint_of(variables={"F": frozenset({"card"})})
    heard = commit(1, "receive", ops=(Op("set", ("input", "3"), "card 42"),))
    asked = Asked("model", "intent", freeze({"input": "card 42"}))
    told = commit(2, "intent", phase="asked", reads=(("input", "3"),), asked=asked)
    assert taint.follow(heard) is heard
    assert taint.follow(told) is told
    facts = {"target": "F", "scope": "v1"}
    taint.follow(commit(3, "open", reads=(("input", "3"),), ops=(put("card", 42),), facts=facts))
    assert taint.covers(("input", "3"))
    assert taint.again(heard).ops[0].value == MARK
    seen = taint.again(told)
    assert seen.asked is not None
    assert seen.asked.args == freeze({"input": MARK})


def test_what_a_called_chart_gives_back_is_sensitive() -> None:
    """Its caller takes the answer in another commit, in a frame of its own."""
    taint = taint_of(paths=(SSN,))
    taint.follow(commit(1, "AGENT", to="call d2", reads=(SSN,)))
    taint.follow(commit(2, "think", frame=2, caller=1, reads=(SSN,), to="return"))
    answered = Answered("call", "agent", "made of 123")
    seen = taint.follow(commit(3, "AGENT", answered=answered, ops=(put("r", "made of 123"),)))
    assert seen.ops == (put("r", MARK),)
    clean = taint_of(paths=(SSN,))
    clean.follow(commit(1, "AGENT", to="call d2"))
    clean.follow(commit(2, "think", frame=2, caller=1, to="return"))
    seen = clean.follow(commit(3, "AGENT", answered=answered, ops=(put("r", "harmless"),)))
    assert seen.ops == (put("r", "harmless"),)


def test_errors_of_others_go_and_those_of_the_engine_lose_what_is_quoted() -> None:
    """A function may say anything; the engine puts values in quotes."""
    taint = taint_of(paths=(SSN,))
    own = commit(1, "SWITCH", reads=(SSN,), to="fail", error='No branch fits "12" of ssn.')
    assert taint.follow(own).error == 'No branch fits "[X]" of ssn.'
    call = (FunctionCall("f", None, None, "bad 12"),)
    other = commit(2, reads=(SSN,), calls=call, to="fail", error="bad 12", error_name="ValueError")
    seen = taint.follow(other)
    assert (seen.error, seen.error_name) == (MARK, "ValueError")
    assert taint.shown['No branch fits "12" of ssn.'] == 'No branch fits "[X]" of ssn.'


def test_what_the_user_said_in_the_turn_is_not_looked_for() -> None:
    """It stands on record as it was said; what else is read with something sensitive is."""
    taint = taint_of(paths=(SSN,))
    heard = Op("set", ("input", "7"), "what about your hours?")
    taint.follow(commit(kind="receive", ops=(heard,)))
    talk = [{"role": "user", "content": "what about your hours?"}, {"content": "I open at 9"}]
    taint.follow(commit(2, reads=(SSN,), ops=(put("history", talk),)))
    assert taint.texts == ["I open at 9"]
    taint.add(("input", "7"), declared=True)
    taint.follow(commit(3, reads=(SSN,), ops=(put("history", talk),)))
    assert "what about your hours?" in taint.texts


def test_whose_run_it_is_of_an_agent_stays() -> None:
    """A receipt cannot be checked without it. A flow's own variable of that name is masked."""
    taint = taint_of(paths=(SSN,))
    begun = (put("message", "my 4711"), put("runId", "r-1"), put("turnNumber", 2))
    seen = taint.follow(commit(1, "AGENT", to="call x", reads=(SSN,), ops=begun))
    assert [op.value for op in seen.ops] == [MARK, "r-1", 2]
    own = (put("receipts", "digest"), put("loopCount", 0), put("calls", "4711"))
    seen = taint.follow(commit(2, "stage", reads=(("v1", "message"),), ops=own))
    assert [op.value for op in seen.ops] == ["digest", 0, MARK]
    seen = taint.follow(commit(3, "SET", reads=(SSN,), ops=(put("runId", "4711"),)))
    assert [op.value for op in seen.ops] == [MARK]
    seen = taint.follow(commit(4, "AGENT", to="/n", reads=(SSN,), ops=(put("runId", "4711"),)))
    assert [op.value for op in seen.ops] == [MARK]
