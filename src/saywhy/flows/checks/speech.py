"""What the engine itself cannot say in a declared language: sentences, guidance, commands.

It stands in no file, so its place is the option of the engine and the way inside it:
`messages/es`. Texts of flows are `checks.languages`'.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, get_args

from saywhy.errors import Place, Problem, did_you_mean
from saywhy.flows.blame import one_line
from saywhy.flows.checks.spot import Severity
from saywhy.flows.commands import CommandWords
from saywhy.flows.guidance import Context, Guidance
from saywhy.flows.languages import USUAL, is_near, nearest
from saywhy.flows.phrases import BUILT_IN, Phrases


class Speech(NamedTuple):
    """What an engine says and understands, as its host configured it."""

    phrases: Phrases
    guidance: Guidance
    words: CommandWords


def check_speech(
    speech: Speech | None, languages: Sequence[str], plain: str = USUAL
) -> Iterator[Problem]:
    """Every gap in what an engine says. Without a `speech` nobody said what the host hands over,
    and then a gap in ours is a note."""
    known = speech or Speech(Phrases(), Guidance(), CommandWords())
    severity: Severity = "warning" if speech else "note"
    yield from _unknown(known.phrases)
    for language in languages:
        yield from _sentences(known.phrases, language, severity)
        yield from _guidance(known.guidance, language, plain)
        if not known.words.has(language):
            message = f"no words for the commands in {language}: the English ones are understood"
            hint = f'command_words={{"{language}": {{"cancel": […], …}}}} adds some'
            yield Problem(message, _at("command_words", language), hint, severity)


def _unknown(phrases: Phrases) -> Iterator[Problem]:
    """Sentences of the host's that are never said."""
    known = list(BUILT_IN[USUAL])
    for language, texts in phrases.given.items():
        for phrase in texts:
            if phrase not in BUILT_IN[USUAL]:
                hint = did_you_mean(phrase, known) or "the reference lists the ids there are"
                message = f'no sentence has the id "{phrase}"'
                yield Problem(message, _at("messages", language, phrase), hint, "warning")


def _sentences(phrases: Phrases, language: str, severity: Severity) -> Iterator[Problem]:
    if not phrases.speaks(language):
        message = f"no sentences of the engine's own in {language}: it says them in English"
        hint = f'messages={{"{language}": {{…}}}} gives them; the reference lists them'
        yield Problem(message, _at("messages", language), hint, severity)
        return
    for phrase in phrases.lacks(language):
        message = f"no `{phrase}` for users who speak {language}"
        hint = f"they will read: {one_line(phrases.say(phrase, USUAL))}"
        yield Problem(message, _at("messages", language, phrase), hint, "warning")


def _guidance(guidance: Guidance, language: str, plain: str) -> Iterator[Problem]:
    """Guidance of the host's own that is there in some language, but not in this one."""
    for context in get_args(Context):
        texts = guidance.texts(context)
        is_plain = is_near(plain, language) and "" in texts
        if not texts or is_plain or any(tag in texts for tag in nearest(language)):
            continue
        message = f"no guidance `{context}` for users who speak {language}"
        told = guidance.given_in(language, context)
        hint = f"they will read: {told}" if told else "they will read the engine's own"
        yield Problem(message, _at("guidance", language, context), hint, "warning")


def _at(*parts: str) -> Place:
    return Place(pointer="/".join(parts))
