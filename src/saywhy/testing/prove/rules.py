"""What must hold of a conversation that was disturbed: one function a rule.

Each yields what is wrong. A rule compares what the service's ledger has with what the store has,
and with how the same conversation goes undisturbed. None of them asks the engine.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from saywhy.flows.decisions import MAX_REPEATS
from saywhy.stores.store import JournalEntry, StoredTurn
from saywhy.testing.ledger import Entry
from saywhy.testing.prove.record import Played, is_users
from saywhy.testing.prove.scenes import Scene, definitions, words_of

HANDLED: Final = "Nobody knows."
"""What a flow says that handles an unknown outcome itself."""
GIVEN_UP: Final = f"was called {MAX_REPEATS + 1} times and did not act"
"""What is said of a call that its `reconcile` function found undone again and again."""


@dataclass(frozen=True, slots=True)
class Case:
    """A conversation that was disturbed, with all that is known of it."""

    session_id: str
    scene: Scene
    turns: tuple[StoredTurn, ...]
    journal: tuple[JournalEntry, ...]
    ledger: tuple[Entry, ...]
    played: Played
    expected: Played
    left_open: frozenset[str]
    """Calls that are listed as unknown in the end."""

    def noted(self, kind: str) -> list[Entry]:
        """The lines of one kind, in order."""
        return [entry for entry in self.ledger if entry.kind == kind]

    @property
    def unknown_keys(self) -> set[str]:
        """Calls that nobody knew the end of, and that had to be listed therefore."""
        return {entry.key for entry in self.noted("listed")} | self.left_open


def tools_of_class(effect: str) -> set[str]:
    """The tools with one class of effect."""
    return {tool.raw["id"] for tool in definitions().tools if tool.raw["effect"] == effect}


def every_message_ends(case: Case) -> Iterator[str]:
    """What was acknowledged is processed to its reply."""
    known = {turn.message_id: turn for turn in case.turns}
    for entry in case.noted("accepted"):
        turn = known.get(entry.key)
        if turn is None:
            yield f"{entry.key} was acknowledged and is lost"
        elif not has_ended(turn):
            yield f"{entry.key} did not come to its end: {turn.status} {turn.error or ''}"
    if not case.noted("over"):
        yield "it did not come to its end"
    for entry in case.noted("raised-turn"):
        yield f"{entry.key} raised: {entry.facts['error']}"


def each_message_once(case: Case) -> Iterator[str]:
    """Each message has one turn, in the order in which they were sent."""
    ids = [turn.message_id for turn in case.turns if is_users(turn.message_id)]
    expected = [f"m{number}" for number in range(1, len(words_of(case.session_id)) + 1)]
    if ids != expected[: len(ids)] or len(ids) < len(case.noted("said")):
        yield f"its turns are {ids}"


def nothing_after_its_record(case: Case) -> Iterator[str]:
    """A call whose result was on record is not made again."""
    known: set[str] = set()
    for entry in case.ledger:
        if entry.kind == "recorded" and entry.facts["final"]:
            known.add(entry.key)
        elif entry.kind == "call" and entry.key in known:
            yield f"{entry.key} was called after its result was on record"


def no_answer_is_asked_for_twice(case: Case) -> Iterator[str]:
    """A model whose answer was on record is not asked again, and never outside the journal."""
    known: set[str] = set()
    for entry in case.ledger:
        if entry.kind == "remembered":
            known.add(entry.key)
        elif entry.kind == "asked" and not entry.key:
            yield "a model was asked, and the journal was not told"
        elif entry.kind == "asked" and entry.key in known:
            yield f"the model was asked {entry.key} again, though its answer was on record"


def once_is_once(case: Case) -> Iterator[str]:
    """A `once` call is made again only where it is known that it did not act.

    Known by the tool's own error, which is an answer, by its `reconcile` function, or by a person.
    """
    once = tools_of_class("once")
    called: set[str] = set()
    allowed: set[str] = set()
    raised: dict[str, int] = {}
    for entry in case.ledger:
        key = entry.key
        if entry.kind == "raised":
            raised[key] = entry.pid
        elif _is_known_not_to_have_acted(entry, raised):
            allowed.add(key)
        elif entry.kind == "call" and entry.facts["tool"] in once:
            if key in called and key not in allowed and raised.get(key) != entry.pid:
                yield f"{key} was called again, though {entry.facts['tool']} acts once"
            called.add(key)
            allowed.discard(key)
            raised.pop(key, None)


def _is_known_not_to_have_acted(entry: Entry, raised: Mapping[str, int]) -> bool:
    if entry.kind in ("looked", "decided"):
        return not entry.facts["acted"]
    answered = entry.kind == "recorded" and entry.facts["status"] == "answered"
    return answered and entry.key in raised


def one_key_for_one_act(case: Case) -> Iterator[str]:
    """Every repeat of a call carries the key of the first."""
    for act, keys in acts_of(case, "call").items():
        if len(set(keys)) > 1:
            yield f"{act} was called under {len(set(keys))} keys: {', '.join(sorted(set(keys)))}"


def one_effect_for_one_act(case: Case) -> Iterator[str]:
    """The service acts once at most, and has acted where it was said that it did."""
    effects = acts_of(case, "effect")
    for act, keys in effects.items():
        if len(keys) > 1:
            yield f"{act} took effect {len(keys)} times"
    told = " ".join(text or "" for text in (*case.played.words, *case.played.settled))
    for act, keys in acts_of(case, "call").items():
        amounts = {entry.facts["amount"] for entry in case.noted("call") if entry.key in keys}
        said = any(f"R-{amount}." in told or f"R-{amount} " in told for amount in amounts if amount)
        if said and not effects.get(act):
            yield f"{act} was said to be done, and was not"


def every_unknown_is_settled(case: Case) -> Iterator[str]:
    """A call that was cut off and may not be repeated is listed, and settled in the end."""
    for key in case.left_open:
        yield f"{key} is listed as unknown, and nobody settled it"
    known = case.unknown_keys | {entry.key for entry in case.noted("looked")}
    for entry in case.noted("recorded"):
        cut_off = entry.facts["status"] != "answered" and entry.key in _once_keys(case)
        if cut_off and entry.key not in known and not _is_handled(case):
            yield f"{entry.key} was cut off, and nobody was told"


def it_says_the_same(case: Case) -> Iterator[str]:
    """What is said is what an undisturbed conversation says, up to what is truly unknown."""
    words, expected = case.played.final_words, case.expected.final_words
    if _was_given_up(case):
        words = expected
    elif _is_handled(case):
        pairs = zip(words, expected, strict=False)
        words = tuple(meant if HANDLED in (text or "") else text for text, meant in pairs)
    if words != expected:
        yield f"it said {words}, not {expected}"
    for entry in case.noted("said"):
        number = int(entry.key[1:])
        stored = case.played.words[number - 1] if number <= len(case.played.words) else None
        if entry.facts["text"] != stored:
            yield f"the user was told {entry.facts['text']!r}, and on record is {stored!r}"


def it_has_the_same_record(case: Case) -> Iterator[str]:
    """What is on record is what an undisturbed conversation leaves, where nothing was unknown."""
    in_doubt = case.unknown_keys or case.noted("looked") or _is_handled(case)
    if in_doubt or not case.scene.same_record or case.played.trace == case.expected.trace:
        return
    pairs = zip(case.played.trace, case.expected.trace, strict=False)
    for number, (found, expected) in enumerate(pairs):
        if found != expected:
            yield f"step {number} of its record is {found}, not {expected}"
            return
    yield f"its record has {len(case.played.trace)} steps, not {len(case.expected.trace)}"


RULES: Final[tuple[Callable[[Case], Iterator[str]], ...]] = (
    every_message_ends,
    each_message_once,
    nothing_after_its_record,
    no_answer_is_asked_for_twice,
    once_is_once,
    one_key_for_one_act,
    one_effect_for_one_act,
    every_unknown_is_settled,
    it_says_the_same,
    it_has_the_same_record,
)


def has_ended(turn: StoredTurn) -> bool:
    """Whether a turn came to its reply; one that ended at a call of unknown outcome has one too."""
    return turn.status == "done" or (turn.status == "unknown" and turn.reply is not None)


def acts_of(case: Case, kind: str) -> dict[str, list[str]]:
    """What the flow wanted done → the keys of the lines about it."""
    found: dict[str, list[str]] = defaultdict(list)
    for entry in case.noted(kind):
        found[f"{entry.facts['tool']} for {entry.facts['what']}"].append(entry.key)
    return found


def _once_keys(case: Case) -> set[str]:
    return {entry.key for entry in case.journal if entry.effect == "once"}


def _was_given_up(case: Case) -> bool:
    """Whether a call was cut off so often before it acted that the flow said that it failed."""
    looked = case.noted("looked")
    tries = sum(not entry.facts["acted"] for entry in looked)
    said = any(GIVEN_UP in (text or "") for text in case.played.words)
    return said and len(looked) == tries > MAX_REPEATS and not case.noted("effect")


def _is_handled(case: Case) -> bool:
    return any(HANDLED in (text or "") for text in case.played.words)


__all__ = ["HANDLED", "RULES", "Case", "acts_of", "has_ended", "tools_of_class"]
