"""FORM: ask until every input is known, read it out, and hand it over once.

One answer may fill several inputs, correct earlier ones, or fit several alike. An answer nobody can
read is asked for again, once unless the author says otherwise; the next one is yielded: routing may
find a flow for it, the draft stays, and the form goes on when the user comes back to it. What is
handed over is a CALL-TOOL step of its own, so that journal, retries and doubts are those of every
call.
"""

from __future__ import annotations

from typing import Any, Final

from saywhy.chart.commit import Condition, Decision
from saywhy.chart.model import Node
from saywhy.chart.outcome import Answer, Goto, Need, Outcome, Return
from saywhy.chart.scope import Scope
from saywhy.flows import answers, endings, spoken
from saywhy.flows.evaluate import condition, native_value
from saywhy.flows.forms import extract, matching, record
from saywhy.flows.forms.draft import Draft
from saywhy.flows.forms.matching import Fill, Reading, Slot
from saywhy.flows.forms.model import Input, form_of
from saywhy.flows.forms.speaking import Talk, entry_node
from saywhy.flows.forms.values import typed
from saywhy.flows.forms.words import bare, pattern, yes_or_no
from saywhy.flows.speech import language_of, say_more
from saywhy.flows.world import World
from saywhy.values import UNDEFINED, FrozenDict, freeze

Kept = dict[str, Any]

SUBMIT: Final = "submit"
DECLINE: Final = "onDecline"


def enter(world: World, node: Node, scope: Scope) -> Outcome:
    """Begin a form, or go on with the draft of one that was left."""
    talk = _talk(world, node, scope)
    kept = record.held(scope, node)
    draft = scope.peek((scope.frame.scope, talk.form.variable))
    if kept is None or not isinstance(draft, FrozenDict):  # a correction went back before it began
        kept = record.begun(node, talk.form.variable)
        scope.set((scope.frame.scope, talk.form.variable), {})
        _prefill(talk)
    elif kept["completion"] != "open":  # its submission failed, and its author asks the user again
        kept |= {"completion": "open", "recovery": "resumption"}
    elif scope.kept("justResumed"):
        talk.say_resumed(kept, named=False)
    kept |= {"yielded": False, "misses": 0}
    return _go_on(talk, kept)


def take(world: World, node: Node, scope: Scope, answer: Answer) -> Outcome:
    """Read an answer, whoever wrote it down: the user, or a model that cleaned or searched it."""
    talk = _talk(world, node, scope)
    kept = record.held(scope, node)
    asked = scope.asked
    assert kept is not None, "a form that waits has begun"
    assert asked is not None, "an answer answers what was asked"
    if asked.kind != "model":
        return _take_words(talk, kept, answer)
    _note_words(scope)
    if asked.name == spoken.TASK:
        return _understand(talk, kept, spoken.cleaned(asked, answer))
    return _take_found(talk, kept, asked, extract.found_in(asked, answer))


def _talk(world: World, node: Node, scope: Scope) -> Talk:
    return Talk(world, node, scope, form_of(node), language_of(world, scope))


def _prefill(talk: Talk) -> None:
    """What the author knows already: `value` of an input, as long as the input may hold it."""
    draft = Draft(talk)
    for entry in talk.form.inputs:
        if "value" not in entry.raw:
            continue
        value = entry.raw["value"]
        if isinstance(value, str):
            value = native_value(talk.world, talk.scope, value, hide_errors=True)
        value = typed(entry, value, talk.language, talk.scope.now)
        if value is not UNDEFINED:
            draft.put(entry, value)


# ------------------------------------------------------------------ going on


def _go_on(talk: Talk, kept: Kept, told: str = "") -> Outcome:
    """The next question, the review, or the submission. `told` is said before it."""
    if told:
        say_more(talk.world, talk.scope, told)
    if kept["tie"]:
        return talk.ask_tie(kept)
    wanted = _next(talk, kept)
    if wanted is not None:
        return talk.ask_input(kept, wanted)
    # only now: an input may have been filled before the one that its condition asks about
    Draft(talk).drop([one.name for one in talk.form.inputs if not _is_active(talk, one)])
    if "confirm" in talk.form.raw:
        return talk.ask_confirmation(kept)
    review = talk.text(talk.form.raw, "review")
    if review.strip():
        say_more(talk.world, talk.scope, review)
    return _submit(talk, kept, None)


def _next(talk: Talk, kept: Kept) -> Input | None:
    """The input to ask for: one that is to be changed, else the first that is missing."""
    values = talk.values
    again: list[str] = kept.get("again") or []
    active = [one for one in talk.form.inputs if _is_active(talk, one)]
    missing = [one for one in active if one.name not in values]
    reopened = [one for one in missing if one.name in again]
    return next(iter([*reopened, *(one for one in missing if one.required)]), None)


def _is_active(talk: Talk, entry: Input) -> bool:
    when = entry.raw.get("when")
    return not isinstance(when, str) or condition(talk.world, talk.scope, when)[0]


def _submit(talk: Talk, kept: Kept, agreed: Condition | None) -> Outcome:
    """Hand the values over; a form without a submission is complete."""
    target = talk.form.raw.get(SUBMIT)
    kept |= {"phase": SUBMIT, "asking": ""}
    if agreed is not None:
        talk.scope.decision = Decision(SUBMIT, (agreed,))
    if isinstance(target, str):
        record.keep(talk.scope, kept)
        return Goto(target)
    record.keep(talk.scope, {**kept, "completion": "completed", "recovery": "none promised"})
    return Goto(talk.node.next)


def _decline(talk: Talk, kept: Kept, refused: Condition) -> Outcome:
    """The user does not want it: nothing is handed over, and nothing is promised."""
    talk.scope.decision = Decision(DECLINE, (refused,))
    kept |= {"completion": "declined", "recovery": "required restart", "asking": ""}
    record.keep(talk.scope, kept)
    target = talk.form.raw.get(DECLINE)
    if isinstance(target, str):
        return Goto(target)
    say_more(talk.world, talk.scope, talk.phrase("form_declined"))
    return Return()


# ------------------------------------------------------------------ reading answers


def _take_words(talk: Talk, kept: Kept, answer: Answer) -> Outcome:
    """The user's words, shaped as a spoken answer is where the question says so."""
    world, scope = talk.world, talk.scope
    entry = talk.form.input(kept["asking"]) if kept["phase"] == "collect" else None
    node = entry_node(talk.node, entry) if entry is not None else talk.node
    question = scope.kept("question")
    kept["question"] = question if isinstance(question, str) else ""
    words = answers.shaped(world, node, scope, str(answer.value or "").strip())
    answers.take_input(scope, answer)
    answers.hide(scope, words)
    if answers.is_to_be_cleaned(world, scope):
        cleaning = spoken.cleaning(kept["question"], words)
        if cleaning is not None:
            record.keep(scope, kept)
            return cleaning
    return _understand(talk, kept, words)


def _note_words(scope: Scope) -> None:
    """A model's answer is about the user's newest words: those were read as well."""
    held = scope.kept("input")
    if held:
        scope.reads.append(("input", str(held[1])))
        scope.facts["message"] = held[1]


def _understand(talk: Talk, kept: Kept, words: str) -> Outcome:
    """What the words say to the question that is open."""
    phase = kept["phase"]
    if phase == "tie":
        chosen = _chosen(talk, kept, words)
        if chosen is not None:
            return _settle(talk, {**kept, "tie": None}, Reading((chosen,)))
    if phase == "confirm":
        agrees = yes_or_no(words, talk.language)
        if agrees is not None:
            evidence = _evidence(talk, words, agrees=agrees)
            return _submit(talk, kept, evidence) if agrees else _decline(talk, kept, evidence)
    slots = _slots(talk)
    reading = matching.read(
        slots,
        words,
        asked=kept["asking"] if phase == "collect" else "",
        language=talk.language,
        now_ms=talk.scope.now,
        reviewing=phase == "confirm",
    )
    is_partly = bool(reading.rest) and _lacks(slots, reading)
    if talk.world.has_model and not reading.refused and (reading.is_empty or is_partly):
        return _ask_model(talk, kept, reading, slots, words)
    return _settle(talk, kept, reading)


def _slots(talk: Talk) -> list[Slot]:
    values = talk.values
    return [Slot(one, one.name in values, _is_active(talk, one)) for one in talk.form.inputs]


def _lacks(slots: list[Slot], reading: Reading) -> bool:
    """Whether something that has to be known is not, after an answer was read."""
    done = {fill.name for fill in reading.fills}
    wanted = [slot for slot in slots if slot.active and slot.entry.required and not slot.filled]
    return any(slot.entry.name not in done for slot in wanted)


def _evidence(talk: Talk, words: str, *, agrees: bool) -> Condition:
    held = talk.scope.kept("input")
    key = ("input", str(held[1] if held else 0))
    text = "the answer agrees" if agrees else "the answer refuses"
    return Condition(text, True, SUBMIT if agrees else DECLINE, ((key, words),))


def _chosen(talk: Talk, kept: Kept, words: str) -> Fill | None:
    """Which of the inputs that a value fits the user names: by its label, or by its number."""
    tie = kept["tie"]
    names: list[str] = list(tie["values"])
    said = [name for name in names if pattern((talk.label(name),)).search(words)]
    number = bare(words)
    if not said and number.isdecimal() and 0 < int(number[:9]) <= len(names):
        said = [names[int(number) - 1]]
    if len(said) != 1:
        return None
    return Fill(said[0], tie["values"][said[0]], tie["words"])


def _ask_model(talk: Talk, kept: Kept, reading: Reading, slots: list[Slot], words: str) -> Outcome:
    """Keep what the rules have found, and let a model look for more."""
    draft = Draft(talk)
    told = draft.take(reading.fills, kept)
    if told:
        return _go_on(talk, kept, f"❌ {told}")
    kept["found"] = not reading.is_empty
    kept["ties"] = [{"words": tie.words, "values": tie.values} for tie in reading.ties]
    if reading.changes:
        _reopen(talk, kept, reading.changes)
    record.keep(talk.scope, kept)
    return extract.asks_for(kept["step"], slots, words, kept.get("question", ""), talk.language)


def _take_found(talk: Talk, kept: Kept, asked: Need, found: dict[str, Any]) -> Outcome:
    """Take what a model has found, as far as the user could have said it."""
    fills: list[Fill] = []
    values = talk.values
    for entry in talk.form.inputs:
        value = typed(entry, found.get(entry.name), talk.language, talk.scope.now)
        if value is not UNDEFINED and freeze(value) != values.get(entry.name, UNDEFINED):
            fills.append(Fill(entry.name, value, str(found[entry.name]), "model"))
    ties = [matching.Tie(tie["words"], dict(tie["values"])) for tie in kept.pop("ties", [])]
    was_read = kept.pop("found", False)
    if not fills and not was_read:
        return _unreadable(talk, kept)
    return _settle(talk, kept, Reading(tuple(fills), tuple(ties)), read=was_read)


def _settle(talk: Talk, kept: Kept, reading: Reading, *, read: bool = False) -> Outcome:
    """Put down what an answer said, and go on."""
    if reading.is_empty and not read:
        return _unreadable(talk, kept)
    draft = Draft(talk)
    told = draft.take(reading.fills, kept)
    for refused in reading.refused:
        entry = talk.form.input(refused.name)
        currency = entry.money.get("currency", "") if entry else ""
        if entry is not None and talk.is_pii(entry):
            draft.hide(refused, kept)
        told = told or talk.phrase("form_currency", currency=currency, amount=refused.words)
    if told and not reading.changes and not draft.took:
        return _refused(talk, kept, told)
    if kept["yielded"]:
        kept["yielded"] = False
        talk.say_resumed(kept, named=True)
    kept |= {"misses": 0, "refusals": 0}
    _reopen(talk, kept, reading.changes)
    if reading.ties:
        tie = reading.ties[0]
        draft.hide_tie(tie, kept)
        kept["tie"] = {"words": tie.words, "values": tie.values}
    return _go_on(talk, kept, f"❌ {told}" if told else "")


def _reopen(talk: Talk, kept: Kept, names: tuple[str, ...]) -> None:
    """Ask these inputs again."""
    filled = talk.values
    Draft(talk).drop(list(names))
    again = [name for name in kept.get("again", []) if name not in filled]
    kept["again"] = [*again, *names]


# ------------------------------------------------------------------ what cannot be read


def _refused(talk: Talk, kept: Kept, told: str) -> Outcome:
    """What was understood and cannot be taken is asked for again, but not for ever."""
    kept["refusals"] = kept.get("refusals", 0) + 1
    if kept["refusals"] > talk.world.options.max_corrections:
        return _yield(talk, kept)
    return _go_on(talk, kept, f"❌ {told}")


def _unreadable(talk: Talk, kept: Kept) -> Outcome:
    """Say so and ask again; when that was done often enough, the words are somebody else's."""
    kept["misses"] += 1
    if kept["misses"] > talk.form.patience:
        return _yield(talk, kept)
    told = talk.text(talk.form.raw, "retry") or talk.phrase("form_unreadable")
    return _go_on(talk, kept, told)


def _yield(talk: Talk, kept: Kept) -> Outcome:
    """Hand the words to routing. The draft stays, unless the author lets it go."""
    scope = talk.scope
    scope.facts["yielded"] = True
    if not talk.form.keeps_draft:
        scope.delete((scope.frame.scope, talk.form.variable))
        kept |= {"completion": "abandoned", "recovery": "none promised", "asking": ""}
        record.keep(scope, kept)
        return endings.dispatch(talk.world, talk.node, scope)
    kept["yielded"] = True
    record.keep(scope, kept)
    scope.keep("question", kept.get("question", ""))
    scope.set(("turn", "dispatched"), scope.frame.name)
    name = str(kept["asking"] or kept["phase"])
    return answers.wait(talk.world, talk.node, scope, name, field=name, pii=bool(scope.kept("pii")))
