"""The sentence that tells a user how to get out of a flow, around each question.

spec: flow-engine 10.2
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from saywhy.errors import CallerError, did_you_mean
from saywhy.flows.phrases import Phrases

FINANCIAL_WORDS: Final = ("payment", "transfer", "financial")
KEYS: Final = ("enabled", "mode", "template", "separator", "contextSelector", "guidanceMessages")

Pieces = list[list[Any]]
"""Stretches of a text, in order: the text and the number of the commit it comes from (0: ours)."""


def is_financial(flow_name: str) -> bool:
    """Whether a flow's name says that it moves money."""
    lowered = flow_name.lower()
    return any(word in lowered for word in FINANCIAL_WORDS)


@dataclass(frozen=True, slots=True)
class Guidance:
    """Guidance as an engine was told to give it."""

    enabled: bool = True
    mode: Literal["append", "prepend", "template", "none"] = "prepend"
    template: str = ""
    separator: str = "\n\n"
    context: Literal["general", "payment", "auto"] = "auto"
    messages: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @classmethod
    def of(cls, config: Mapping[str, Any] | None) -> Guidance:
        """Guidance from a host's configuration (camelCase keys, all optional).

        Raises `CallerError` for a mode or selector that does not exist, and for a misspelt key.
        """
        config = config or {}
        for key in config:
            if key not in KEYS and (hint := did_you_mean(key, KEYS)):
                raise CallerError(f'guidance has no key "{key}"', hint=hint)
        mode = config.get("mode", "prepend")
        context = config.get("contextSelector", "auto")
        if mode not in ("append", "prepend", "template", "none"):
            raise CallerError(f'guidance mode "{mode}" is not append, prepend, template or none')
        if context not in ("general", "payment", "auto"):
            raise CallerError(f'guidance contextSelector "{context}" is not general, payment, auto')
        return cls(
            bool(config.get("enabled", True)),
            mode,
            config.get("template") or "",
            config.get("separator", "\n\n"),
            context,
            config.get("guidanceMessages") or {},
        )

    def around(
        self, question: Pieces, *, flow: str, prompt: str, language: str | None, phrases: Phrases
    ) -> Pieces:
        """`question` with the guidance of the root flow `flow` put where the mode says."""
        if not self.enabled or self.mode == "none":
            return question
        text = self._text(flow, prompt, language, phrases)
        if self.mode == "template" and self.template:
            return self._in_template(question, text, flow)
        if self.mode == "prepend":
            return [[text, 0], [self.separator, 0], *question]
        return [*question, [self.separator, 0], [text, 0]]

    def _text(self, flow: str, prompt: str, language: str | None, phrases: Phrases) -> str:
        context = self.context
        if context == "auto":
            context = "payment" if is_financial(flow) else "general"
        custom = self.messages.get(language or "en", self.messages)
        text = custom.get(context) if isinstance(custom, Mapping) else None
        if isinstance(text, str):
            return text.replace("{{flowPrompt}}", prompt).replace("{{flowName}}", flow)
        return phrases.say(f"flow_help_{context}", language, flowPrompt=prompt, flowName=flow)

    def _in_template(self, question: Pieces, guidance: str, flow: str) -> Pieces:
        filled = self.template.replace("{{guidance}}", guidance).replace("{{flowName}}", flow)
        before, mark, after = filled.partition("{{message}}")
        middle = question if mark else []
        return [[before, 0], *middle, [after, 0]]
