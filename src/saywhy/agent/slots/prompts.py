"""Where the system prompt comes from: a text, a template, skills that match, or several of these.

Each provider gives a `Resolved` text, so that it is known afterwards which way was taken. How the
pieces are joined with what instructions add is `system_prompt`'s.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from saywhy.agent.slots.awaiting import all_of
from saywhy.agent.slots.context import ByFunction, Resolver, SlotContext
from saywhy.agent.slots.resolved import STATIC, Resolved, resolved_of
from saywhy.errors import CallerError

BLANK_LINE: Final = "\n\n"
_WORD: Final = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class StaticPrompt:
    """The same text always."""

    text: str = ""
    is_async: bool = field(default=False, init=False)
    resolved: Resolved[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "resolved", Resolved(self.text))

    def resolve(self, context: SlotContext, /) -> Resolved[str]:
        """The text."""
        return self.resolved


@dataclass(frozen=True, slots=True)
class TemplatePrompt:
    """A text with `{{words}}` that are filled in; an unknown one stays as it is written.

    `variables` come before the built-in `message` and `turnNumber`.
    """

    text: str
    variables: Mapping[str, Any] = field(default_factory=dict[str, Any])
    is_async: bool = field(default=False, init=False)

    def resolve(self, context: SlotContext, /) -> Resolved[str]:
        """The text with its words filled in."""

        def fill(found: re.Match[str]) -> str:
            name = found[1]
            if name in self.variables:
                return str(self.variables[name])
            if name == "message":
                return context.message
            return str(context.turn_number) if name == "turnNumber" else found[0]

        return Resolved(_WORD.sub(fill, self.text))


@dataclass(frozen=True, slots=True)
class Skill:
    """Know-how that enters the prompt when `match` holds; without `match` it always does."""

    id: str
    content: str
    match: Callable[[Any], Any] | None = None


@dataclass(frozen=True, slots=True)
class SkillsPrompt:
    """A base text and the skills that match, joined by a blank line.

    `fallback` is used where nothing matched and there is no base.
    """

    skills: tuple[Skill, ...]
    base: str = ""
    fallback: str = ""
    is_async: bool = field(default=False, init=False)

    def resolve(self, context: SlotContext, /) -> Resolved[str]:
        """The base and what matched, in declared order."""
        found: list[Skill] = []
        raised: list[str] = []
        for one in self.skills:
            try:
                if one.match is None or one.match(context):
                    found.append(one)
            except Exception as error:  # whoever cannot tell does not match, and it is told
                raised.append(f"; {one.id} raised {type(error).__name__}")
        told = (f"{len(found)} skills" if found else "no skills") + " matched" + "".join(raised)
        if not found:
            return Resolved(self.base or self.fallback, STATIC if self.base else "fallback", told)
        parts = [self.base, *(skill.content for skill in found)]
        text = BLANK_LINE.join(part for part in parts if part)
        return Resolved(text, f"skills: {', '.join(one.id for one in found)}", told)


@dataclass(frozen=True, slots=True)
class CompositePrompt:
    """Several providers, resolved side by side; what is empty is left out."""

    providers: tuple[Resolver, ...]
    separator: str = BLANK_LINE
    is_async: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_async", any(one.is_async for one in self.providers))

    def resolve(self, context: SlotContext, /) -> Any:
        """The texts joined by the separator."""
        given = [one.resolve(context) for one in self.providers]
        return self._later(given) if self.is_async else self._joined(given)

    async def _later(self, given: Iterable[Any]) -> Resolved[str]:
        return self._joined(await all_of(given))

    def _joined(self, parts: Iterable[Resolved[str]]) -> Resolved[str]:
        kept = [part for part in parts if part.value]
        labels = [part.chosen for part in kept if part.chosen != STATIC]
        chosen = f"composite: {' + '.join(labels)}" if labels else "composite"
        reasons = [part.rationale for part in kept if part.rationale]
        text = self.separator.join(part.value for part in kept)
        return Resolved(text, chosen, "; ".join(reasons) or None)


def static_prompt(text: str) -> StaticPrompt:
    """A prompt that is always the same."""
    return StaticPrompt(text)


def template_prompt(text: str, **variables: Any) -> TemplatePrompt:
    """A prompt with `{{words}}`: of `variables`, then `{{message}}` and `{{turnNumber}}`."""
    return TemplatePrompt(text, variables)


def skills_prompt(
    skills: Iterable[Skill | Mapping[str, Any]], *, base: str = "", fallback: str = ""
) -> SkillsPrompt:
    """A prompt made of `base` and the skills whose `match` holds for the context."""
    made = [one if isinstance(one, Skill) else Skill(**one) for one in skills]
    return SkillsPrompt(tuple(made), base, fallback)


def composite_prompt(*providers: Any, separator: str = BLANK_LINE) -> CompositePrompt:
    """Several prompts in one; each may be text, a function, or another provider."""
    return CompositePrompt(tuple(prompt_of(one) for one in providers), separator)


def prompt_of(given: Any) -> Resolver:
    """Whatever may stand for a prompt as a provider: None, text, a function, a provider.

    A function takes the `SlotContext` and gives text or a `Resolved`; it may be async.
    """
    if given is None or isinstance(given, str):
        return StaticPrompt(given or "")
    resolve = getattr(given, "resolve", None)
    if callable(resolve):
        return given if isinstance(getattr(given, "is_async", None), bool) else ByFunction(resolve)
    if callable(given):
        return ByFunction(given)
    raise CallerError(
        f"a system prompt is text or a function, not {type(given).__name__}",
        hint="hand in the text, a function of the context, or template_prompt(…)",
    )


def prompt_text(resolved: Resolved[Any]) -> str:
    """The text of a resolved prompt. Raises `CallerError` where a provider gave something else."""
    text = resolved_of(resolved).value
    if text is None:
        return ""
    if not isinstance(text, str):
        raise CallerError(
            f"a prompt provider gave {type(text).__name__} instead of text",
            hint="return the text, or Resolved(text, chosen, rationale)",
        )
    return text
