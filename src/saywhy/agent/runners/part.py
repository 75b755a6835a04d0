"""One runner inside another: what it is called there, its chart, what it is given and gives.

Every runner is a chart with one contract. It is given `message`, and where it has a conversation
`history`; it gives `result`, the text of its answer, `messages`, `stopReason` and `loopCount`. So
they nest in one another as charts, on one machine and with one record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from saywhy.agent.loop.finishing import DONE
from saywhy.agent.loop.history import closed
from saywhy.agent.loop.state import EMPTY, append, frozen_messages, given, look, write
from saywhy.chart.build import Script
from saywhy.chart.built import Built
from saywhy.chart.declared import ID
from saywhy.chart.merge import Merge, Policy
from saywhy.errors import Problem
from saywhy.models.chat import assistant_message, text_of, user_message
from saywhy.values import UNDEFINED, FrozenDict, FrozenList, freeze, raw

MESSAGE: Final = "message"
OF_THE_RUN: Final = ("runId", "conversationId")
"""What is handed on to every runner inside, so that all of a run is told by one id."""

CARRIED: Final = "carried"
"""What the next run is given of this one besides the conversation: who was talking."""

CONVERSATION: Final = (
    "messages",
    "assembledSystem",
    "memory_storedHistory",
    "memory_preparedMessages",
)
"""The variables that a conversation is made of."""

LOOSE: Final = ("followUps", "strictFollowUp", "strictCalls", "decision")
"""What a run of an agent leaves for the next one."""


@dataclass(frozen=True, slots=True)
class Part:
    """A runner inside another one."""

    id: str
    build: Callable[[str], Built]
    """An id → its chart, under that id."""
    description: str = ""
    keeps_history: bool = False
    """Whether it goes on with the conversation so far."""
    runner: Any = None
    """Whose chart it is."""
    conversation_id: str = ""
    """Under which a memory of its own keeps the conversation; "": one within that of the run."""

    def built(self, inside: str) -> Built:
        """Its chart within the chart `inside`."""
        return self.build(f"{inside}/{self.id}")


def begin(*, keeps_history: bool = False) -> Callable[[Any], None]:
    """The first stage of a runner made of others: the conversation, and the user's words."""

    def seed(s: Any) -> None:
        """Begin with the user's words."""
        message = given(s, MESSAGE, "")
        messages = closed(frozen_messages(given(s, "history"))) if keeps_history else EMPTY
        if message:
            messages = messages.appended(raw(freeze(user_message(message))))
        write(s, "messages", messages)
        write(s, "input", message)
        s.userMessage = text_of(message)
        s.turnNumber = int(given(s, "turnNumber", 1))
        s.loopCount = 0
        for name in OF_THE_RUN:
            value = given(s, name)
            if value:
                write(s, name, value)

    return seed


def finish(s: Any) -> str:
    """Take the result as the answer."""
    result = str(look(s, "result", ""))
    append(s, "messages", FrozenDict(assistant_message(result)))
    s.stopReason = look(s, "stopReason", DONE)
    return result


def first_input(s: Any) -> Any:
    """What the runner was given itself."""
    return look(s, "input", "")


def handed(part: Part, message: Callable[[Any], Any]) -> Callable[[Any], Mapping[str, Any]]:
    """What a part is given."""

    def inputs(s: Any) -> Mapping[str, Any]:
        args: dict[str, Any] = {MESSAGE: message(s), "turnNumber": look(s, "turnNumber", 1)}
        run_id, conversation = look(s, "runId"), look(s, "conversationId")
        if run_id:
            args["runId"] = run_id
        if part.conversation_id:
            args["conversationId"] = part.conversation_id
        elif conversation:
            args["conversationId"] = f"{conversation}/{part.id}"
        if part.keeps_history:
            args["history"] = before(look(s, "messages", EMPTY))
            carried = given(s, CARRIED)
            if carried is not None and part.id in carried:
                args[CARRIED] = carried[part.id]
        return args

    return inputs


def before(messages: FrozenList) -> FrozenList:
    """The conversation before the words that are being answered."""
    items = messages.raw
    if items and items[-1].get("role") == "user":
        return FrozenList(items[:-1], owned=True)
    return messages


def gives(s: Any) -> dict[str, Any]:
    """What is taken over from any part."""
    return {"result": look(s, "result", ""), "loopCount": int(look(s, "loopCount", 0))}


def added(had: Any, values: list[Any]) -> Any:
    """Rounds are counted over all parts."""
    return sum(int(one) for one in (had, *values) if one is not UNDEFINED)


COUNTED: Final[Mapping[str, Policy]] = {"loopCount": added}


def mount(
    script: Script,
    part: Part,
    inside: str,
    message: Callable[[Any], Any] = first_input,
    outputs: Callable[[Any], Mapping[str, Any]] = gives,
    *,
    appends: Sequence[str] = (),
    **options: Any,
) -> None:
    """Run a part as the next stage of `script`, in the chart with the id `inside`."""
    merge: dict[str, Policy] = {**COUNTED, **dict.fromkeys(appends, Merge.APPEND)}
    script.mount(
        part.built(inside),
        id=part.id,
        inputs=handed(part, message),
        outputs=outputs,
        merge=merge,
        **options,
    )


def id_problems(what: str, ids: Sequence[Any], taken: Sequence[str] = ()) -> Iterator[Problem]:
    """What is wrong with the names of parts. `taken` are those of the runner's own stages."""
    for one in ids:
        if not isinstance(one, str) or not ID.fullmatch(one):
            yield Problem(
                f"{one!r} is no id of a {what}", hint="write text without spaces, /, # and ~"
            )
        elif one in taken:
            hint = "take another one"
            yield Problem(f'a {what} cannot have the id "{one}"', hint=hint, flow=one)
    texts = [one for one in ids if isinstance(one, str)]
    several = f"{what}es" if what.endswith("h") else f"{what}s"
    for one, times in Counter(texts).items():
        if times > 1:
            yield Problem(
                f'{times} of the {several} have the id "{one}"',
                hint="give each an id of its own",
                flow=one,
            )
