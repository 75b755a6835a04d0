"""Long texts stand in the messages once; commits point at them and get them back."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from saywhy.chart.commit import Answered, Commit, Op
from saywhy.messages import Message
from saywhy.trace.record import decode, encode
from saywhy.trace.shorten import SHORTENED_TAG, put_back, shorten
from saywhy.values import freeze, same, thaw

STORY = "It was a dark and stormy night; the rain fell in torrents, except at occasional intervals."
MESSAGES = [
    Message(1, "user", f"  {STORY} "),
    Message(2, "assistant", f"You said: {STORY}\n\nGo on?"),
    Message(3, "user", "short"),
]
BY_NUMBER = {message.seq: message for message in MESSAGES}


def commit(value: Any, **fields: Any) -> Commit:
    ops = (Op("set", ("v1", "story"), freeze(value)),)
    return Commit(1, 1, 1, "c", "Pay", "/steps/0", "SET", ops=ops, **fields)


def shortened(given: Commit) -> Commit:
    return shorten([given], MESSAGES)[0]


def test_a_long_text_becomes_a_pointer() -> None:
    """The text of the answer stands in the user's message and nowhere else."""
    kept = shortened(commit(STORY, answered=Answered("user", value=STORY)))
    assert kept.ops[0].value == {"$text": [1, 2, 2 + len(STORY)]}
    assert STORY.encode() not in encode(kept)
    assert kept.tags == (SHORTENED_TAG,)


@pytest.mark.parametrize(
    "value",
    [
        STORY,
        {"deep": [{"said": f"You said: {STORY}", "n": 1}]},
        [STORY, STORY[:70], "short"],
        {"$text": [1, 0, 3], "story": STORY},
        [{"$text": [1, 0, 3]}, STORY],
        [{"$text": STORY}],
        {"$text": [[STORY]]},
        [{"$text": "x"}, {"$text": [{"$text": [STORY]}]}, STORY],
    ],
)
def test_put_back_undoes_it(value: Any) -> None:
    """Whatever the value, also one that looks like a pointer, comes back through JSON as it was."""
    given = commit(value, tags=("cut",))
    kept = shortened(given)
    assert SHORTENED_TAG in kept.tags
    back = put_back(decode(encode(kept)), BY_NUMBER)
    assert same(back.ops[0].value, given.ops[0].value)
    assert back.tags == ("cut",)


@pytest.mark.parametrize("value", ["short", STORY + "!" * 40, {"$text": [1, 0, 5]}, 7])
def test_other_values_stay(value: Any) -> None:
    """Short texts, texts that were not said, and objects that look like pointers are left alone."""
    given = commit(value)
    assert shortened(given) is given
    assert put_back(given, BY_NUMBER) is given


def test_the_limit_is_the_callers() -> None:
    """From which length on a pointer pays is for the caller to say."""
    kept = shorten([commit("stormy night")], MESSAGES, longer_than=5)[0]
    assert kept.ops[0].value == {"$text": [1, 20, 32]}
    assert put_back(kept, BY_NUMBER).ops[0].value == "stormy night"


def test_a_missing_message_is_said() -> None:
    """Without the message the text is not invented: the commit counts as cut."""
    kept = shortened(commit(STORY))
    back = put_back(kept, {})
    assert back.ops[0].value == "[CUT: message 1 is not part of this trace]"
    assert back.tags == ("cut",)
    erased = {1: msgspec.structs.replace(MESSAGES[0], text="")}
    assert put_back(kept, erased).tags == ("cut",)


def test_the_callers_values_are_not_changed() -> None:
    """Shortening makes new values where it changes something."""
    given = commit({"said": STORY})
    shortened(given)
    assert thaw(given.ops[0].value) == {"said": STORY}
