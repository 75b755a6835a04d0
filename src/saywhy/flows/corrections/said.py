"""Which answer a message corrects, and what the new one is.

An author's own patterns come first, then the plain forms of the language. A name counts only where
something was asked under it, in the flows that run. What a model says of a message is read here as
well; when it is asked is left to `routing`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

from saywhy.chart.cursor import Cursor, Frame
from saywhy.chart.model import Charts
from saywhy.chart.outcome import Answer
from saywhy.errors import SaywhyError
from saywhy.expr.javascript import Evaluated
from saywhy.expr.names import Path
from saywhy.flows.corrections import patterns
from saywhy.flows.corrections.entries import Entry
from saywhy.flows.corrections.log import RECORD, Log, key_of
from saywhy.flows.corrections.replay import value_of
from saywhy.flows.corrections.settings import spaced
from saywhy.flows.languages import canonical, nearest, pick
from saywhy.flows.modelled import Prompt
from saywhy.flows.world import World
from saywhy.host.reading import object_in
from saywhy.host.schemas import closed, wrapped
from saywhy.values import UNDEFINED, FrozenDict

TASK: Final = "correction"


class Said(NamedTuple):
    """A correction as somebody said it."""

    variable: str
    value: str


class Answered(NamedTuple):
    """An answer on record that can be corrected."""

    variable: str
    entry: Entry
    names: Mapping[str, Collection[str]]
    """What people call it, by language; for every language under the empty text."""

    @property
    def value(self) -> Any:
        """The answer itself."""
        return value_of(self.entry, self.variable)


# ------------------------------------------------------------------ what was answered


def answered(charts: Charts, flow: Cursor, owner: Frame) -> list[Answered]:
    """The answers on record, the newest first, each variable once."""
    log = Log(flow.state.get(*key_of(owner)))
    settings = _settings(charts, owner)
    only = settings.get("only")
    found: dict[str, Answered] = {}
    for tree in reversed(log.entries.raw):
        if tree["kind"] != "SAY-GET":
            continue
        entry = Entry.of(tree)
        name = entry.answers
        if name and name not in found and _is_open(entry, only):
            found[name] = Answered(name, entry, _names(charts, settings, entry.flow, name))
    return list(found.values())


def _is_open(entry: Entry, only: Collection[str] | None) -> bool:
    """Whether an answer may be corrected by words, which are kept: none that is sensitive."""
    return not entry.data.get("pii") and (only is None or entry.answers in only)


def given_before(charts: Charts, owner: Frame) -> list[tuple[str, Mapping[str, Collection[str]]]]:
    """Variables whose answer went to a flow that has given way to the one that runs."""
    settings = _settings(charts, owner)
    names = owner.data[RECORD].get("over", ())
    return [(name, _names(charts, settings, "", name)) for name in names]


def _settings(charts: Charts, owner: Frame) -> Mapping[str, Any]:
    chart = charts.find(owner.chart)
    return chart.meta.get("corrections", {}) if chart is not None else {}


def _names(
    charts: Charts, settings: Mapping[str, Any], flow: str, name: str
) -> Mapping[str, Collection[str]]:
    chart = charts.find(flow) if flow else None
    own: Mapping[str, Any] = chart.meta.get("corrections", {}) if chart is not None else {}
    for known in (own, settings):
        if name in known.get("names", {}):
            return known["names"][name]
    return {"": [spaced(name)]}


def spoken(names: Mapping[str, Collection[str]], language: str) -> list[str]:
    """What a variable is called in a language, names for every language included."""
    own = [each for tag in nearest(language) for each in names.get(tag, ())]
    return [*own, *names.get("", ())]


# ------------------------------------------------------------------ words


def by_pattern(
    world: World,
    text: str,
    language: str,
    known: Mapping[str, list[str]],
    written: Mapping[str, Any],
) -> Said | None:
    """What a message corrects; `known` has the names of each variable, `written` the patterns."""
    by_name = {_key(name): variable for variable in [*known][::-1] for name in known[variable]}
    own = _authors(world, text, pick(written, language) or written.get(canonical(language)) or ())
    for name, value in own:
        variable = name if name in known else by_name.get(_key(name))
        if variable and value:
            return Said(variable, value)
    for tag in nearest(language):
        for name, value in patterns.built_in(text, tag, tuple(by_name)):
            return Said(by_name[_key(name)], value)
    return None


def _key(name: str) -> str:
    return " ".join(patterns.fold(name).split())


class _Tried:
    """The two names that the expression of a pattern reads."""

    functions: Collection[str] = ()

    def __init__(self, pattern: str, text: str) -> None:
        self.values = {"pattern": pattern, "text": text}

    def has(self, name: str) -> bool:
        return name in self.values

    def get(self, path: Path) -> Any:
        return self.values.get(str(path[0]), UNDEFINED)


_TRY: Final = "(new RegExp(pattern, 'iu').exec(text) || {}).groups || null"


def _authors(world: World, text: str, written: Any) -> Iterator[tuple[str, str]]:
    """What the author's patterns find, by JavaScript's rules and time limit."""
    for pattern, variable in written if len(text) <= patterns.MAX_LENGTH else ():
        found = world.javascript.evaluate(_TRY, _Tried(pattern, text.strip()))
        if isinstance(found, Evaluated) and isinstance(found.value, FrozenDict):
            value, name = found.value.get("value"), found.value.get("variable")
            if isinstance(value, str):
                yield variable or str(name or ""), patterns.cleaned(value)


# ------------------------------------------------------------------ a model

_SCHEMA: Final = wrapped(
    TASK,
    closed(
        {
            "isCorrection": {"type": "boolean"},
            "variable": {"type": ["string", "null"]},
            "value": {"type": ["string", "null"]},
        }
    ),
    strict=True,
)

_SYSTEM: Final = """\
A conversation waits for the answer to a question. Decide whether the new words take back something
that was answered before, and give another value for it.

- isCorrection is true only where the words change one of the earlier answers in the list. An answer
  to the open question, a doubt, a question or a request for something else is no correction.
- variable is the name of that answer, exactly as it is written in the list; null where there is
  none.
- value is the new answer alone, as the person would have typed it then; null where there is none.

Reply with JSON only, in this form:
{"isCorrection": false, "variable": null, "value": null}"""


def prompt(world: World, facts: Mapping[str, Any]) -> Prompt:
    """The question to a model: what was answered, what is asked now, what was said."""
    lines = "\n".join(f"- {each['variable']}: {each['names']}" for each in facts["answers"])
    user = (
        f"Earlier answers:\n{lines}\n\nOpen question:\n{facts['question']}\n\n"
        f"New words:\n{facts['input']}"
    )
    return Prompt(_SYSTEM, user, _SCHEMA)


def by_model(answer: Answer, known: Collection[str]) -> tuple[Said | None, str]:
    """What a model says, and what was wrong with its answer; one nobody can read says nothing."""
    if answer.error is not None:
        return None, answer.error
    try:
        reply = object_in(str(answer.value or ""), "isCorrection")
    except SaywhyError as error:
        return None, str(error)
    variable, value = reply.get("variable"), reply.get("value")
    if reply.get("isCorrection") is not True or variable not in known:
        return None, ""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    text = str(value).strip() if isinstance(value, str) or is_number else ""
    return (Said(str(variable), text), "") if text else (None, "")
