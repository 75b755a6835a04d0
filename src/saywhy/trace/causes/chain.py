"""An explanation as data: causes, what leads from one to the next, and the roots they end in.

`why` builds chains, `explain` writes them out. A chain is a graph, not a tree: what caused two
things stands in it once.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from saywhy.errors import Place
from saywhy.trace.words import name_of
from saywhy.values import UNDEFINED, Key, tagged

CauseKind = Literal["target", "said", "value", "answer", "decision", "start", "handed", "missing"]
"""`handed`: a piece of what a model was shown; `missing`: something that did not happen."""

Root = Literal[
    "",
    "words",
    "tool",
    "model",
    "function",
    "timer",
    "authored",
    "default",
    "global",
    "host",
    "input",
    "phrase",
    "recalled",
    "unset",
    "unrecorded",
]
"""What a chain may end in; empty for a cause that has causes of its own.

words of the user, the result of a tool, of a model, of an approved function, a time that was over
without an answer, a text an author wrote, a declared default, a global variable, what the host
set, the input of a run, the library's own phrases, something recalled from memory or retrieved;
`unset` is a variable that nothing wrote, `unrecorded` one the record cannot explain.
"""

Edge = Literal["wrote", "read", "answer", "decision", "caller", "handed", "asked", "beside"]
"""How a cause leads to its cause: which step wrote it, what that step read, which answer from
outside it took over, which decision let it run, what opened its flow, what a model was handed,
which answer of a model asked for it; `beside`: what might have changed it and did not."""


class Cause(msgspec.Struct, omit_defaults=True):
    """One thing that had a part in it."""

    id: int
    kind: CauseKind
    sentence: str
    root: Root = ""
    commit: int = 0
    turn: int = 0
    flow: str = ""
    step: str = ""
    place: Place = Place()
    name: str = ""
    """For a value: the variable as an author writes it."""
    value: Any = UNDEFINED
    read: tuple[tuple[Key, Any], ...] = ()
    """The values a decision looked at."""
    details: tuple[str, ...] = ()
    """What else is to be said: the conditions that a decision found false."""
    marks: tuple[str, ...] = ()
    """Why this link is less than certain."""
    ref: str = ""
    """Its name: `message:3`, `step:Pay/ask-amount`; see `causes.ref`. Several causes may share one:
    a step that ran twice."""
    also: tuple[str, ...] = ()
    """Other names it goes by: the variable of a value that is called by its step."""
    signs: tuple[str, ...] = ()
    """General signs that something may be wrong with it, by name; see `signs` and `ranking`."""
    score: float = 0
    """How likely it is the one looked for; set by `Chain.ranked`."""
    ranked_for: tuple[str, ...] = ()
    """What speaks for it; set by `Chain.ranked`."""

    @property
    def names(self) -> tuple[str, ...]:
        """All names it goes by."""
        return (self.ref, *self.also) if self.ref else self.also

    def to_json(self) -> dict[str, Any]:
        """The cause as plain data; what is empty is left out."""
        data: dict[str, Any] = {"id": self.id, "kind": self.kind, "sentence": self.sentence}
        for field in ("ref", "root", "commit", "turn", "flow", "step", "name"):
            if getattr(self, field):
                data[field] = getattr(self, field)
        if self.name or self.value is not UNDEFINED:
            data["value"] = tagged(self.value)
        if self.read:
            data["read"] = [
                {"name": name_of(key), "value": tagged(value)} for key, value in self.read
            ]
        if self.place != Place():
            data["place"] = _place(self.place)
        if self.details:
            data["details"] = list(self.details)
        for field in ("marks", "also", "ranked_for"):
            if getattr(self, field):
                data[field] = list(getattr(self, field))
        if self.score:
            data["score"] = self.score
        return data


class Link(msgspec.Struct, frozen=True):
    """`effect` came about by way of `cause`."""

    effect: int
    cause: int
    kind: Edge
    key: Key = ()
    """For `read`: what was read."""


class Chain(msgspec.Struct):
    """Everything the record knows of why something is as it is. Cause 0 is what was asked about."""

    causes: list[Cause]
    links: list[Link]
    part: str = ""
    """The words of the reply that were asked about, where it was not the whole."""
    left_out: int = 0
    """How many causes were found and not followed, because a limit was reached."""

    @property
    def target(self) -> Cause:
        """What was asked about."""
        return self.causes[0]

    @property
    def roots(self) -> list[Cause]:
        """What the chain ends in, nearest first."""
        return [cause for cause in self.causes if cause.root]

    @property
    def ranked(self) -> list[Cause]:
        """The causes without the target, likeliest first; each gets its score and its reasons."""
        from saywhy.trace.causes.ranking import ranked

        return ranked(self)

    def find(self, ref: str) -> list[Cause]:
        """The causes that go by a name, nearest first."""
        return [cause for cause in self.causes if ref in cause.names]

    @property
    def marks(self) -> list[str]:
        """All that makes the chain less than certain, each once."""
        return list(dict.fromkeys(mark for cause in self.causes for mark in cause.marks))

    def text(self, width: int = 100) -> str:
        """The chain as an indented text; see `explain`."""
        from saywhy.trace.causes.explain import explain

        return explain(self, width)

    def __str__(self) -> str:
        return self.text()

    def first_text(self, most: int) -> str:
        """The likeliest causes, one a line: its name, what it is, what speaks for it."""
        lines = [self.target.sentence]
        for number, cause in enumerate(self.ranked[:most], 1):
            lines.append(f"{number:>3}. {cause.ref}: {cause.sentence}")
            lines.append(f"     {', '.join(cause.ranked_for)}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The chain as plain data."""
        links = [
            {"effect": link.effect, "cause": link.cause, "kind": link.kind}
            | ({"name": name_of(link.key)} if link.key else {})
            for link in self.links
        ]
        ranked = [cause.id for cause in self.ranked]
        return {
            "target": 0,
            "causes": [cause.to_json() for cause in self.causes],
            "links": links,
            "roots": [cause.id for cause in self.roots],
            "ranked": ranked,
            "marks": self.marks,
            "left_out": self.left_out,
        }


def _place(place: Place) -> dict[str, Any]:
    data = {
        "file": place.file,
        "line": place.line,
        "column": place.column,
        "pointer": place.pointer,
    }
    return {name: value for name, value in data.items() if value}
