"""Which texts of a step are expressions, templates or paths, and where inside them the code stands.

Two languages may stand between `{{` and `}}`: whole expressions where something is said, set or
decided, and plain paths where arguments are handed on. spec: flow-engine 4.4
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from saywhy.expr.names import Reading, read_expression
from saywhy.expr.template import parse_template
from saywhy.flows.model import Step
from saywhy.flows.read_flow import list_of, object_of

Language: TypeAlias = Literal["template", "value", "condition", "path"]
"""`template`: text with holes. `value`: an expression, or a template if it has holes."""

CONDITION: Final = "condition:"


class Text(NamedTuple):
    """A text of a step that is, or may hold, code."""

    path: tuple[str | int, ...]
    """Where it stands, relative to the step."""
    language: Language
    text: str
    start: int = 0
    """Where the code begins: behind `condition:` in the key of a branch."""
    in_key: bool = False
    """Whether the key at `path` is the text, not its value."""


class Code(NamedTuple):
    """One expression or path, and the characters of its `Text` it is made of."""

    owner: Text
    source: str
    start: int
    language: Literal["expression", "condition", "path"]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """A span of the source as a span of the whole text."""
        return self.start + start, self.start + end


def texts_of(step: Step) -> Iterator[Text]:
    """The texts of one step in the order of its keys; those of steps inside it are their own."""
    for key, value in step.raw.items():
        yield from _texts_under(step.type, key, value)


def _texts_under(kind: str, key: str, value: Any) -> Iterator[Text]:
    if isinstance(value, str):
        language = _language_of(kind, key, value)
        if language:
            yield Text((key,), language, value)
    elif key == "args" and kind == "CALL-TOOL":
        yield from _paths(value, (key,))
    elif key == "undo" and kind == "CALL-TOOL":
        yield from _undo(object_of(value))
    elif key == "parameters" and kind == "FLOW":
        yield from _parameters(value)
    elif key == "inputs" and kind == "FORM":
        for place, entry in enumerate(list_of(value)):
            yield from _input(object_of(entry), (key, place))
    elif key == "digits" and kind == "SAY-GET":
        yield from _paths(value, (key,))
    elif key == "timeout" and kind == "SAY-GET":
        yield from _timeout(value)
    elif key == "branches" and kind == "CASE" and isinstance(value, dict):
        for branch in value:
            if branch.startswith(CONDITION):
                start = len(branch) - len(branch.removeprefix(CONDITION).lstrip())
                yield Text((key, branch), "condition", branch, start, in_key=True)


def _language_of(kind: str, key: str, value: str) -> Language | None:
    if key in ("outcome", "reason"):
        return "template"
    if key in ("asSpoken", "pii") and kind == "SAY-GET":
        return "condition"
    if kind == "FORM" and key.partition("_")[0] in ("review", "confirm", "retry"):
        return "template"
    if kind in ("SAY", "SAY-GET") and (key == "value" or key.startswith("value_")):
        return "template"
    if kind == "AGENT" and (key == "value" or key.startswith("value_")):
        return "template"
    if kind in ("SET", "RETURN") and key == "value":
        return "value"
    if kind == "RETURN" and key.startswith("value_"):
        return "value"
    if kind == "FLOW" and key in ("value", "name") and "{{" in value:
        return "template"
    return None


def _timeout(value: Any) -> Iterator[Text]:
    for name, item in object_of(value).items():
        if isinstance(item, str) and (name == "ask" or name.startswith("ask_")):
            yield Text(("timeout", name), "template", item)
        elif name == "value":
            yield from _paths(item, ("timeout", name))


def _input(entry: dict[str, Any], path: tuple[str | int, ...]) -> Iterator[Text]:
    """The texts of one input of a form."""
    for name, item in entry.items():
        if name == "digits":
            yield from _paths(item, (*path, name))
        elif isinstance(item, str):
            if name == "prompt" or name.startswith("prompt_"):
                yield Text((*path, name), "template", item)
            elif name == "value":
                yield Text((*path, name), "value", item)
            elif name in ("when", "pii", "asSpoken"):
                yield Text((*path, name), "condition", item)


def _undo(undo: dict[str, Any]) -> Iterator[Text]:
    for name, item in undo.items():
        if name == "args":
            yield from _paths(item, ("undo", name))
        elif isinstance(item, str) and (name == "text" or name.startswith("text_")):
            yield Text(("undo", name), "template", item)


def _parameters(value: Any) -> Iterator[Text]:
    for name, item in object_of(value).items():
        if "{{" in name:
            yield Text(("parameters", name), "path", name, in_key=True)
        yield from _paths(item, ("parameters", name))


def _paths(value: Any, path: tuple[str | int, ...]) -> Iterator[Text]:
    if isinstance(value, str):
        if "{{" in value:
            yield Text(path, "path", value)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _paths(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _paths(item, (*path, index))


def codes_of(text: Text) -> Iterator[Code]:
    """The expressions or paths in a text."""
    body = text.text[text.start :]
    if text.language == "condition":
        yield Code(text, _without_braces(body), text.start, "condition")
    elif text.language == "value" and "{{" not in body:
        if body.strip():
            yield Code(text, body, text.start, "expression")
    else:
        language = "path" if text.language == "path" else "expression"
        for hole in parse_template(body).holes:
            yield Code(text, hole.source, text.start + hole.at, language)


def _without_braces(condition: str) -> str:
    """A condition with `{{x}}` as `( x )`, each character where it was."""
    if "{{" not in condition or read_expression(condition).error is None:
        return condition
    return condition.replace("{{", "( ").replace("}}", " )")


class FreeName(NamedTuple):
    """One place where an expression uses a name that is not its own."""

    name: str
    start: int
    is_assigned: bool
    """Whether a value is given to the bare name here: `n = 1`, `n++`."""


def free_names(reading: Reading) -> list[FreeName]:
    """Every use of a name that an expression does not define itself, in the order of the text."""
    uses = (
        FreeName(str(use.path[0]), use.spans[0][0], use.is_written and len(use.path) == 1)
        for use in reading.details.uses
    )
    return sorted(uses, key=lambda use: use.start)
