"""What a form made of an answer, in words: which words filled which input, and how it stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from saywhy.chart.commit import Commit
from saywhy.trace.phrases import ENGLISH, Wording
from saywhy.trace.words import brief, quoted
from saywhy.values import Key

KIND: Final = "FORM"
FILLED: Final = "filled"


def is_form(commit: Commit) -> bool:
    """Whether the step of a commit is a form."""
    return commit.kind == KIND


def filled_in(commit: Commit) -> Mapping[str, Any]:
    """For each input that an answer filled: the words it was read from, and who read them."""
    filled = commit.facts.get(FILLED)
    return filled if is_form(commit) and isinstance(filled, Mapping) else {}


def filled_keys(commit: Commit) -> frozenset[Key]:
    """The variables that a form took from the user's words in this step; nothing that it read
    besides goes into them, and what it says is made with them."""
    filled = filled_in(commit)
    if not filled:
        return frozenset()
    return frozenset(op.key for op in commit.ops if len(op.key) == 3 and op.key[2] in filled)


def read_from(commit: Commit, key: Key) -> tuple[str, ...]:
    """`amount was read from "80 dollars"`, for the input at `key` or for all of the form's."""
    filled = filled_in(commit)
    wanted = [str(key[2])] if len(key) > 2 else list(filled)
    return tuple(_read(name, filled[name]) for name in wanted if name in filled)


def _read(name: str, how: Mapping[str, Any]) -> str:
    by_model = " by the model" if how.get("by") == "model" else ""
    return f"{name} was read{by_model} from {quoted(str(how.get('words', '')))}"


def told(commit: Commit, say: Wording = ENGLISH) -> list[str]:
    """What became of the answer, as sentences of a story."""
    sentences: list[str] = []
    filled = filled_in(commit)
    if filled:
        sentences.append(say("form_fills", values=", ".join(_fills(commit, filled, say))))
    again = [str(op.key[2]) for op in commit.ops if op.verb == "delete" and len(op.key) > 2]
    if again:
        sentences.append(say("form_again", names=", ".join(again)))
    if commit.facts.get("yielded"):
        sentences.append(say("form_yielded"))
    elif commit.decision is not None and not filled:
        sentences += [f"{rule.text.capitalize()}." for rule in commit.decision.conditions[:1]]
    elif _was_unreadable(commit) and not again:
        sentences.append(say("form_unreadable"))
    if commit.asked is not None and commit.asked.kind == "model":
        sentences.append(say("form_asks_model"))
    return sentences


def _was_unreadable(commit: Commit) -> bool:
    done, asked = commit.answered, commit.asked
    if done is None or done.kind not in ("user", "model") or FILLED in commit.facts:
        return False
    return asked is not None and asked.kind == "user" and asked.name == done.name


def _fills(commit: Commit, filled: Mapping[str, Any], say: Wording) -> list[str]:
    values = {str(op.key[2]): op.value for op in commit.ops if len(op.key) == 3}
    return [
        f"{name} = {brief(values.get(name), say)} ({quoted(str(how.get('words', '')))})"
        for name, how in filled.items()
    ]
