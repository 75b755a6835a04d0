"""The sentence that tells a user how to get out of a flow, around each question.

spec: flow-engine 10.2
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, get_args

from saywhy.errors import CallerError, did_you_mean
from saywhy.flows.languages import canonical, is_tag, pick
from saywhy.flows.phrases import Phrases

FINANCIAL_WORDS: Final = ("payment", "transfer", "financial")
KEYS: Final = ("enabled", "mode", "template", "separator", "contextSelector", "guidanceMessages")

Mode: TypeAlias = Literal["append", "prepend", "template", "none"]
Context: TypeAlias = Literal["general", "payment"]
Selector: TypeAlias = Literal["general", "payment", "auto"]

Pieces = list[list[Any]]
"""Stretches of a text, in order: the text and the number of the commit it comes from (0: ours)."""

Said: TypeAlias = tuple[str, str, str, Phrases]
"""All that a sentence depends on: flow, prompt, language, and the library's words."""
MOST_MADE: Final = 500

_PLACEHOLDER: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def is_financial(flow_name: str) -> bool:
    """Whether a flow's name says that it moves money."""
    lowered = flow_name.lower()
    return any(word in lowered for word in FINANCIAL_WORDS)


@dataclass(frozen=True, slots=True)
class Guidance:
    """Guidance as an engine was told to give it."""

    enabled: bool = True
    mode: Mode = "prepend"
    template: str = ""
    separator: str = "\n\n"
    context: Selector = "auto"
    messages: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Texts by context, or such texts by language; both may stand side by side."""
    _made: dict[Said, str] = field(default_factory=dict["Said", str], repr=False, compare=False)
    """What was said before, by flow, prompt and language: each question of a flow says it again."""

    @classmethod
    def of(cls, config: Mapping[str, Any] | None) -> Guidance:
        """Guidance from a host's configuration (camelCase keys, all optional).

        Raises `CallerError` for a key, mode or selector that does not exist, for a value of another
        kind, and for a template in which the question does not stand.
        """
        config = config or {}
        for key in config:
            if key not in KEYS:
                hint = did_you_mean(str(key), KEYS) or f"there are {', '.join(KEYS)}"
                raise CallerError(f'guidance has no key "{key}"', hint=hint)
        return cls(
            _switch(config.get("enabled", True)),
            _one_of("mode", config.get("mode", "prepend"), get_args(Mode)),
            _template(_text("template", config.get("template") or "")),
            _text("separator", config.get("separator", "\n\n")),
            _one_of("contextSelector", config.get("contextSelector", "auto"), get_args(Selector)),
            _messages(config.get("guidanceMessages") or {}),
        )

    def around(
        self, question: Pieces, *, flow: str, prompt: str, language: str | None, phrases: Phrases
    ) -> Pieces:
        """A question with guidance at its side; `flow` and `prompt` are those of the root flow."""
        if not self.enabled or self.mode == "none":
            return question
        key = (flow, prompt, language or "", phrases)
        text = self._made.get(key)
        if text is None:
            if len(self._made) >= MOST_MADE:
                self._made.clear()
            text = self._made[key] = self._said(*key)
        if self.mode == "template" and self.template:
            values = {"guidance": text, **self._names(flow, prompt, language, phrases)}
            return _in_template(self.template, question, values)
        if self.mode == "prepend":
            return [[text, 0], [self.separator, 0], *question]
        return [*question, [self.separator, 0], [text, 0]]

    def given_in(self, language: str, context: Context) -> str | None:
        """The host's own text for a language; None where the library's is said."""
        for texts in (pick(self.messages, language), self.messages):
            text = texts.get(context) if isinstance(texts, Mapping) else None
            if isinstance(text, str):
                return text
        return None

    def texts(self, context: Context) -> dict[str, str]:
        """The host's own texts for a context by language; one for all under the empty text."""
        texts = {canonical(key): value.get(context) for key, value in self.messages.items()
                 if isinstance(value, Mapping)}  # fmt: skip
        texts[""] = self.messages.get(context)
        return {tag: text for tag, text in texts.items() if isinstance(text, str)}

    @staticmethod
    def _names(flow: str, prompt: str, language: str | None, phrases: Phrases) -> dict[str, str]:
        """What stands for a flow in a host's own texts."""
        named = phrases.named
        return {"flowPrompt": named(prompt, language), "flowName": named(flow, language)}

    def _said(self, flow: str, prompt: str, language: str, phrases: Phrases) -> str:
        context: Context = "payment" if self.context == "payment" else "general"
        if self.context == "auto" and is_financial(flow):
            context = "payment"
        text = self.given_in(language, context)
        if text is None:
            return phrases.say(f"flow_help_{context}", language, flowPrompt=prompt, flowName=flow)
        values = self._names(flow, prompt, language, phrases)
        return _PLACEHOLDER.sub(lambda found: values.get(found[1]) or found[0], text)


def _in_template(template: str, question: Pieces, values: Mapping[str, str]) -> Pieces:
    """The template's own words as stretches of ours, with the question where it belongs."""
    pieces: Pieces = []
    at = 0
    for found in _PLACEHOLDER.finditer(template):
        pieces.append([template[at : found.start()], 0])
        if found[1] == "message":
            pieces.extend(question)
        else:
            pieces.append([values.get(found[1]) or found[0], 0])
        at = found.end()
    pieces.append([template[at:], 0])
    return [piece for piece in pieces if piece[0]]


# ------------------------------------------------------------------ what a host configures


def _switch(given: Any) -> bool:
    if not isinstance(given, bool):
        raise CallerError(f"guidance enabled is True or False, not {given!r}")
    return given


def _one_of(key: str, given: Any, allowed: tuple[str, ...]) -> Any:
    if given not in allowed:
        words = f"{', '.join(allowed[:-1])} or {allowed[-1]}"
        raise CallerError(f'guidance {key} "{given}" is not {words}')
    return given


def _text(key: str, given: Any) -> str:
    if not isinstance(given, str):
        raise CallerError(f"guidance {key} is text, not {type(given).__name__}")
    return given


def _template(text: str) -> str:
    if text and "message" not in _PLACEHOLDER.findall(text):
        hint = 'write {{message}} where it belongs: "{{guidance}}\\n{{message}}"'
        raise CallerError("the guidance template would leave out the question", hint=hint)
    return text


def _messages(given: Any) -> Mapping[str, Any]:
    hint = '{"general": "…", "payment": "…"}, or such an object for each language'
    if not isinstance(given, Mapping):
        raise CallerError(f"guidanceMessages is an object, not {type(given).__name__}", hint=hint)
    for key, value in given.items():
        if isinstance(value, Mapping) and is_tag(str(key)):
            for context, text in value.items():
                _message(f"{key}.{context}", context, text, hint)
        else:
            _message(str(key), key, value, hint)
    return given


def _message(where: str, context: Any, text: Any, hint: str) -> None:
    if context not in get_args(Context):
        raise CallerError(f'guidanceMessages has no place for "{where}"', hint=hint)
    if not isinstance(text, str):
        kind = type(text).__name__
        raise CallerError(f'guidanceMessages: "{where}" is text, not {kind}', hint=hint)
