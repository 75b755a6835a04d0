"""Which texts that reach a user are missing in a language the host has declared.

A text without words, such as `{{name}}`, is the same in every language. The plain text counts for
the language that it is written in: the flow's `language`, else the one that is declared for all.
Whether what is written is a text at all is left to the other checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from saywhy.errors import Problem
from saywhy.expr.template import parse_template
from saywhy.flows.checks.flow import flow_problem
from saywhy.flows.checks.keys import STEP_KEYS
from saywhy.flows.checks.spot import Known, Spot
from saywhy.flows.languages import covers, is_near, is_tag
from saywhy.flows.model import Flow, Step
from saywhy.flows.read_flow import kind_of, list_of, object_of

Path = tuple[str | int, ...]

SAID: Final[Mapping[str, tuple[str, ...]]] = {
    "SAY": ("value",),
    "SAY-GET": ("value",),
    "RETURN": ("value",),
    "FORM": ("review", "confirm", "retry"),
}
"""Keys of each step type that hold what is said."""
INPUT_TEXTS: Final = ("label", "prompt")
"""Keys of an input of a form that hold what is said."""
NESTED: Final = frozenset(
    ["branches", "onFail", "onUnknown", "onDecline", "submit", "then", "retryOnConditions"]
)
"""Keys that hold steps, which are looked at by themselves."""

_FAMILY: Final = (
    re.compile(r"(.+)_([A-Za-z]{2}[-_][A-Za-z]{2})\Z"),
    re.compile(r"(.+)_([A-Za-z]{2})\Z"),
)
"""Names of translations: `note_pt_BR`, `note_es`."""
_ADDRESS: Final = re.compile(r"\b(?:https?://|mailto:|tel:)\S+|\S+@\S+\.\S+")
_QUOTED: Final = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`([^`$\\]*)`)\s*\Z""")


class Shown(NamedTuple):
    """A text that a user may see: the object it stands in, the way there, and its key."""

    owner: Mapping[str, Any]
    path: Path
    key: str
    has_words: bool


def check_flow_languages(flow: Flow, known: Known) -> Iterator[Problem]:
    """What is wrong with a flow's `language`, and in which languages its `prompt` is missing."""
    written = flow.raw.get("language")
    if written is not None and not (isinstance(written, str) and is_tag(written)):
        shown = f'"{written}"' if isinstance(written, str) else kind_of(written)
        message = f"`language` must be a language like en or pt-BR, this is {shown}"
        hint = "it says which language the plain texts of this flow are in"
        yield flow_problem(flow, message, "/language", hint)
    text = flow.raw.get("prompt")
    if not isinstance(text, str) or not _has_words(text):
        return
    for language in _missing(flow, known, flow.raw, "prompt"):
        message = f"no `prompt_{language}` for users who speak {language}"
        yield flow_problem(flow, message, "/prompt", "they will see `prompt`", "warning")


def check_languages(spot: Spot) -> Iterator[Problem]:
    """The texts of one step that are missing in a declared language, or in vain."""
    yield from _in_vain(spot)
    if not spot.known.languages:
        return
    seen: set[tuple[Path, str]] = set()
    for shown in _shown(spot):
        if (shown.path, shown.key) not in seen:  # a text may be known for two reasons
            seen.add((shown.path, shown.key))
            yield from _text(spot, shown)


def _in_vain(spot: Spot) -> Iterator[Problem]:
    """Translations where nothing is said: `value_es` of a SET."""
    kind = spot.step.type
    if kind not in STEP_KEYS or kind == "AGENT" or "value" in SAID.get(kind, ()):
        return  # an agent may be told what it is in the user's language
    for key in spot.step.raw:
        if key.startswith("value_") and is_tag(key.removeprefix("value_")):
            message = f"`{key}` means nothing on a {kind} step"
            hint = "only SAY, SAY-GET and RETURN say something; `language` is a name in expressions"
            yield spot.problem(message, key, hint=hint, severity="warning", at_key=True)


def _text(spot: Spot, shown: Shown) -> Iterator[Problem]:
    if not shown.has_words:
        return
    plain = shown.key if shown.owner.get(shown.key) else ""
    for language in _missing(spot.flow, spot.known, shown.owner, shown.key):
        name = f"{shown.key}_{language}"
        at = plain or next((key for key in shown.owner if key.startswith(f"{shown.key}_")), "")
        hint = (
            f"they will see `{plain}`" if plain else f"they will see nothing: `{at}` is not theirs"
        )
        message = f"no `{name}` for users who speak {language}"
        if name in shown.owner:
            at, message = name, f"`{name}` is empty, for users who speak {language}"
        yield spot.problem(message, *shown.path, at, hint=hint, severity="warning")


def _missing(flow: Flow, known: Known, owner: Mapping[str, Any], key: str) -> Iterator[str]:
    """The declared languages in which there is neither a text of their own nor the plain one."""
    written = flow.raw.get("language")
    plain = written if isinstance(written, str) and written else known.plain
    for language in known.languages:
        is_plain = bool(owner.get(key)) and is_near(plain, language)
        if not is_plain and not covers(owner, key, language):
            yield language


# ------------------------------------------------------------------ which texts there are


def _shown(spot: Spot) -> Iterator[Shown]:
    step, raw = spot.step, spot.step.raw
    for key in SAID.get(step.type, ()):
        yield Shown(raw, (), key, _says_something(step, raw.get(key)))
    yield from _asked_again(raw)
    if step.type == "FORM":
        for index, entry in enumerate(list_of(raw.get("inputs"))):
            for key in INPUT_TEXTS:
                if object_of(entry).get(key):
                    yield _of(entry, ("inputs", index), key)
                yield from _asked_again(object_of(entry), ("inputs", index))
    yield from _families(raw, (), spot.known.languages)


def _of(owner: Mapping[str, Any], path: Path, key: str) -> Shown:
    text = owner.get(key)
    return Shown(owner, path, key, isinstance(text, str) and _has_words(text))


def _asked_again(raw: Mapping[str, Any], path: Path = ()) -> Iterator[Shown]:
    """What is said about an answer that is not right, or does not come, and about an undo."""
    patterns = list_of(object_of(raw.get("inputValidation")).get("patterns"))
    for index, rule in enumerate(patterns):
        if isinstance(rule, dict):
            yield _of(rule, (*path, "inputValidation", "patterns", index), "message")
    for key, inside in (("timeout", "ask"), ("undo", "text")):
        yield _of(object_of(raw.get(key)), (*path, key), inside)


def _families(tree: Any, path: Path, declared: tuple[str, ...]) -> Iterator[Shown]:
    """Texts that the author has begun to translate, wherever they stand: `note` and `note_es`."""
    if isinstance(tree, list):
        for index, item in enumerate(tree):
            yield from _families(item, (*path, index), declared)
    if not isinstance(tree, dict):
        return
    for key, value in tree.items():
        name = _translates(key, declared) if isinstance(value, str) else ""
        plain = tree.get(name)
        if name and (plain is None or isinstance(plain, str)):
            yield Shown(tree, path, name, _has_words(plain or value))
        if key not in NESTED and isinstance(value, dict | list):
            yield from _families(value, (*path, key), declared)


def _translates(key: str, languages: Iterable[str]) -> str:
    """The name that `key` is the translation of into one of the languages; empty for none."""
    for pattern in _FAMILY:
        found = pattern.match(key)
        if found and any(is_near(found[2], language) for language in languages):
            return found[1]
    return ""


# ------------------------------------------------------------------ words


def _says_something(step: Step, value: Any) -> bool:
    if not isinstance(value, str):
        return False
    if step.type != "RETURN" or "{{" in value:
        return _has_words(value)
    quoted = _QUOTED.match(value)  # an expression: only one that is a text as it stands
    return quoted is not None and _has_words("".join(part or "" for part in quoted.groups()))


def _has_words(text: str) -> bool:
    """Whether anything of a template is in some language: its holes and addresses are not."""
    parts: list[str] = []
    at = 0
    for hole in parse_template(text).holes:
        parts.append(text[at : hole.start])
        at = hole.end
    bare = " ".join([*parts, text[at:]])
    return any(letter.isalpha() for letter in _ADDRESS.sub(" ", bare))
