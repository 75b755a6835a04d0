"""What a flow says of corrections: whether it takes them, in which words, of which variables.

Read once, when a flow is compiled, and kept in its chart. What is wrong with it is told by
`checks.corrections`; here that counts as not written. How words are matched is `patterns`'.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from saywhy.flows.languages import canonical
from saywhy.flows.model import Flow
from saywhy.flows.read_flow import list_of, object_of

KEY: Final = "corrections"
MOST_WORDS: Final = 4
"""Words of a description that may still be what people call the thing."""


def takes_corrections(flow: Flow) -> bool:
    """Whether the flow lets its answers be corrected: off unless it says so."""
    written = flow.raw.get(KEY)
    return written is True or isinstance(written, Mapping)


def settings_of(flow: Flow) -> dict[str, Any]:
    """What the chart of a flow that takes corrections remembers of them."""
    written = object_of(flow.raw.get(KEY))
    settings: dict[str, Any] = {"names": spoken_names(flow)}
    patterns = dict(_patterns(written.get("patterns")))
    if patterns:
        settings["patterns"] = patterns
    if isinstance(written.get("variables"), list):
        settings["only"] = [name for name in written["variables"] if isinstance(name, str)]
    return settings


def _patterns(written: Any) -> Iterator[tuple[str, list[list[str]]]]:
    """By language: each pattern and the variable it is about, empty where it captures that."""
    for language, items in object_of(written).items():
        entries = [entry for entry in map(pattern_of, list_of(items)) if entry is not None]
        if entries:
            yield canonical(language), entries


def pattern_of(item: Any) -> list[str] | None:
    """A pattern as written, alone or with its variable; None for anything else."""
    if isinstance(item, str):
        return [item, ""]
    fields = object_of(item)
    pattern, variable = fields.get("pattern"), fields.get("variable", "")
    return [pattern, variable] if isinstance(pattern, str) and isinstance(variable, str) else None


# ------------------------------------------------------------------ names


def spoken_names(flow: Flow) -> dict[str, dict[str, list[str]]]:
    """What people call each variable that the flow asks for or declares, by language.

    Names for every language stand under the empty text.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for name in asked_variables(flow):
        found[name] = {"": [spaced(name)]}
    for name, declared in _declared(flow):
        names = found.setdefault(name, {"": [spaced(name)]})
        description = declared.get("description")
        if isinstance(description, str) and len(description.split()) <= MOST_WORDS:
            names[""].append(description)
        for key, value in declared.items():
            if key == "names" or key.startswith("names_"):
                language = canonical(key[len("names_") :]) if key != "names" else ""
                given = [each for each in list_of(value) if isinstance(each, str)]
                names.setdefault(language, []).extend(given)
    return found


def asked_variables(flow: Flow) -> list[str]:
    """The variables that the flow's own SAY-GETs ask for, each once."""
    asked = (step.raw.get("variable") for step in flow.walk() if step.type == "SAY-GET")
    return list(dict.fromkeys(name for name in asked if isinstance(name, str) and name))


def _declared(flow: Flow) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, declared in object_of(flow.raw.get("variables")).items():
        yield name, object_of(declared)
    for declared in list_of(flow.raw.get("parameters")):
        name = object_of(declared).get("name")
        if isinstance(name, str) and name:
            yield name, object_of(declared)


def spaced(name: str) -> str:
    """A variable's name as somebody would say it: `dueDate` and `due_date` are "due date"."""
    words = "".join(f" {each}" if each.isupper() else each for each in name.replace("_", " "))
    return " ".join(words.split())
