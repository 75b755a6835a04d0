"""Universal commands, word by word."""

from __future__ import annotations

from typing import Any

import pytest

from saywhy.errors import CallerError
from saywhy.flows.commands import ORDER, WORDS, CommandWords
from tests.flows.conftest import ask, engine_of, flow, say, talk

ALL = frozenset(ORDER)
NOUNS = {"en": "workflow", "es": "flujo", "pt": "fluxo", "fr": "démarche", "de": "Vorgang"}


def detect(text: str, language: str | None, **changes: Any) -> str | None:
    """The command that a text is, with a host's words if there are any."""
    return CommandWords(changes or None).detect(text, language, ALL)


@pytest.mark.parametrize(
    ("language", "command", "word"),
    [
        (language, command, word)
        for language, words in WORDS.items()
        for command, synonyms in words.commands.items()
        for word in synonyms
    ],
)
def test_every_word_is_a_command(language: str, command: str, word: str) -> None:
    """Alone, in any case, with spaces around; in a sentence with a word for flow behind it."""
    assert detect(f"  {word.upper()} ", language) == command
    assert detect(f"please {word} {NOUNS[language]} now", language) is not None


@pytest.mark.parametrize("language", WORDS)
def test_no_word_stands_for_two_commands(language: str) -> None:
    """Who says something must know what it does."""
    words = [word for synonyms in WORDS[language].commands.values() for word in set(synonyms)]
    assert len(words) == len(set(words))
    assert list(WORDS[language].commands) == list(ORDER)


def test_english_and_spanish_words_are_these() -> None:
    """The words that programs count on, and no others."""
    english, spanish = WORDS["en"].commands, WORDS["es"].commands
    flows = ("cancel", "abort", "stop", "exit", "quit", "end")
    assert set(english["cancel"]) == {"cancel", "cancel workflow", *(f"{w} flow" for w in flows)}
    assert english["help"] == ("help", "?", "options", "commands")
    assert english["status"] == ("status", "where am i", "what flow", "current flow", "info")
    assert english["switch"] == ("switch", "change", "go to")
    assert english["continue"] == ("continue", "proceed", "keep going", "go on")
    ends = ("cancelar", "abortar", "parar", "salir", "terminar", "fin")
    assert set(spanish["cancel"]) == {
        "cancelar",
        "cancelar workflow",
        *(f"{word} flujo" for word in ends),
    }
    assert spanish["help"] == ("ayuda", "?", "opciones", "comandos")
    assert spanish["status"] == ("estado", "donde estoy", "que flujo", "flujo actual", "info")
    assert spanish["switch"] == ("cambiar", "ir a", "cambio")
    assert spanish["continue"] == ("continuar", "proceder", "seguir", "continúa")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "exit",
        "cancelled",
        "cancel it",
        "cancel flowers",
        "recancel flow",
        "flow cancel",
        "I want to cancel",
        "helping",
        "what flows",
        "cancelar",
        "cancel flujo",
    ],
)
def test_other_words_are_answers(text: str) -> None:
    """A sentence is a command only where it names the flow."""
    assert detect(text, "en") is None


@pytest.mark.parametrize(
    ("text", "language", "command"),
    [
        ("cancel flow!", "en", "cancel"),
        ("(cancel flow)", "en", "cancel"),
        ("so: cancel flow, please", "en", "cancel"),
        ("¿dónde estoy", "es", None),
        ("Dónde estoy", "es", "status"),
        ("continua", "es", "continue"),
        ("quero cancelar o fluxo agora", "pt", "cancel"),
        ("onde estou", "pt-BR", "status"),
        ("où suis-je", "fr", "status"),
        ("ou suis-je", "fr-CA", "status"),
        ("merci d'annuler la démarche", "fr", "cancel"),
        ("Bitte den Vorgang abbrechen!", "de", "cancel"),
        ("abbrechen", "de_AT", "cancel"),
        ("Vorgangabbrechen", "de", None),
        ("cancel", "DE", "cancel"),
        ("annulla", "it", None),
        ("Cancel.", "en", "cancel"),
        ("¡Cancelar!", "es", "cancel"),
        ("...", "en", None),
    ],
)
def test_words_as_people_write_them(text: str, language: str, command: str | None) -> None:
    """Accents, capitals and punctuation around do not matter; the order is the language's."""
    assert detect(text, language) == command


def test_languages_without_words_use_english() -> None:
    """So does none; Spanish does not."""
    assert detect("cancel", "it") == "cancel"
    assert detect("cancel", "") == "cancel"
    assert detect("cancel", None) == "cancel"
    assert detect("cancel", "es") is None


def test_only_what_is_enabled_is_understood() -> None:
    """A command that is switched off is an answer."""
    words = CommandWords()
    assert words.detect("cancel", "en", frozenset({"help"})) is None
    assert words.detect("help", "en", frozenset({"help"})) == "help"


def test_a_host_adds_words() -> None:
    """To a language we have, and to a new one, which begins with the English words."""
    words: dict[str, Any] = {
        "es": {"cancel": ["anular"]},
        "it_it": {"cancel": ["annulla"], "flow": ["flusso"]},
    }
    assert detect("Anular", "es-MX", **words) == "cancel"
    assert detect("cancelar", "es", **words) == "cancel"
    assert detect("annulla", "it-IT", **words) == "cancel"
    assert detect("vorrei annulla flusso", "it-IT", **words) == "cancel"
    assert detect("cancel", "it-IT", **words) == "cancel"
    assert detect("annulla", "it", **words) is None
    assert [CommandWords(words).has(one) for one in ("es", "it-IT", "it")] == [True, True, False]


def test_a_host_replaces_words() -> None:
    """Those of one command; the others stay."""
    words = {"en": {"status": {"only": ["progress"]}}}
    assert detect("progress", "en", **words) == "status"
    assert detect("info", "en", **words) is None
    assert detect("help", "en", **words) == "help"
    assert detect("info", "en") == "status"  # another engine's words are its own


@pytest.mark.parametrize(
    ("words", "problem", "hint"),
    [
        ({"spanish!": {}}, "command_words: 'spanish!' is no language", "command_words={"),
        ({"es": ["x"]}, "command_words: 'es' holds words by command, not list", "command_words={"),
        (
            {"es": {"cancell": ["x"]}},
            "command_words: 'es': no command is called 'cancell'",
            'did you mean "cancel"?',
        ),
        (
            {"es": {"go": ["x"]}},
            "command_words: 'es': no command is called 'go'",
            "there are cancel, help, status, switch, continue, flow",
        ),
        (
            {"es": {"cancel": "anular"}},
            "command_words: 'es', 'cancel' is a list of words, not 'anular'",
            "command_words={",
        ),
        ({"es": {"help": []}}, "command_words: 'es', 'help' is a list of words, not []", ""),
        (
            {"es": {"help": ["x", " "]}},
            "command_words: 'es', 'help': a word is text that is not empty, not ' '",
            "",
        ),
        (
            {"es": {"help": {"just": ["x"]}}},
            "command_words: 'es', 'help': an object has the key only",
            '{"only": ["anular"]} replaces the words, a list adds to them',
        ),
    ],
)
def test_words_that_are_none_are_refused(words: Any, problem: str, hint: str) -> None:
    """A mistake is found when the engine is made, and says where it is."""
    with pytest.raises(CallerError) as caught:
        engine_of(command_words=words)
    assert str(caught.value) == problem
    assert hint in caught.value.hint


async def test_an_engine_understands_what_it_is_told_to() -> None:
    """All commands, some, or none; guidance goes with the last of them."""
    main = flow(ask("x", "q"), say("got {{x}}"))
    settings: dict[str, Any] = {"guidance": {"enabled": True}}
    some = engine_of(main, commands=["help"], **settings)
    session = await talk(some, "Main")
    assert session.response == (
        "Processing Main - You can also 'cancel flow' or request 'help'.\n\nq"
    )
    assert (await talk(some, "cancel", session=session)).response == "got cancel"
    helped = (await talk(some, "help", session=session)).response
    assert helped is not None
    assert helped.startswith("Flow Help")
    none = engine_of(main, commands=False, **settings)
    session = await talk(none, "Main")
    assert session.response == "q"
    assert (await talk(none, "help", session=session)).response == "got help"


async def test_the_words_of_an_engine_reach_its_conversations() -> None:
    """In the language of each conversation."""
    main = flow(ask("x", "q"), say("got {{x}}"), prompt="Order", prompt_it="Ordine")
    engine = engine_of(
        main,
        command_words={"it": {"cancel": ["annulla"]}},
        messages={"it": {"cmd_flow_exited": "{{flowPrompt}} ({{flowName}}) annullato."}},
    )
    for language, said in (("it-CH", "Ordine (Main) annullato."), ("en", "got annulla")):
        session = engine.init_session("u", language=language)
        assert (await talk(engine, "Main", "annulla", session=session)).response == said
