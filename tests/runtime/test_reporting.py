"""What an engine tells of its flows: with declared languages."""

from __future__ import annotations

from tests.flows.conftest import Lines, engine_of, flow, say

HELLO = flow(say("hi {{name}}", value_es="hola {{name}}"), version="1.0", variables={"name": {}})


def missing(engine_options: dict[str, object], *languages: str, **options: str) -> list[str]:
    engine = engine_of(HELLO, **engine_options)
    problems = engine.validate(languages, **options).problems
    return [f"{one.place}: {one.message}" for one in problems if "users who" in one.message]


def test_texts_of_flows_and_sentences_of_the_engine() -> None:
    """What is missing in a declared language, wherever it would have to stand."""
    options: dict[str, object] = {"messages": {"fr": {}}, "guidance": {"enabled": False}}
    found = missing(options, "en", "es", "fr")
    assert found[0] == "messages/fr/flow_init: no `flow_init` for users who speak fr"
    assert found[-1] == "/0/steps/0/value: no `value_fr` for users who speak fr"
    assert missing(options, "en", "es") == []


def test_plain_texts_are_in_the_engines_language() -> None:
    """Unless the call says otherwise."""
    assert missing({"language": "de"}, "de", "es") == []
    place = "/0/steps/0/value: no `value_{0}` for users who speak {0}"
    assert missing({"language": "de"}, "en") == [place.format("en")]
    assert missing({"language": "de"}, "de", plain_language="en") == [place.format("de")]


def test_construction_looks_for_no_languages() -> None:
    """A library that speaks one language is not warned about; a wrong id is."""
    log = Lines()
    engine_of(HELLO, validate_on_init=True, logger=log, messages={"en": {"flow_int": "x"}})
    assert len([line for line in log.lines if "messages/en/flow_int" in line]) == 1
    assert not [line for line in log.lines if "users who" in line]
