"""Every sentence of a narrative is there in every language, and a host may have its own."""

from __future__ import annotations

import pytest

from saywhy.errors import CallerError
from saywhy.trace.phrases import ENGLISH, SENTENCES, holes_in, usual, wording


@pytest.mark.parametrize("language", sorted(SENTENCES))
def test_every_language_has_every_sentence(language: str) -> None:
    """With room for the same values; none is empty, and none but notations is left in English."""
    english, texts = SENTENCES["en"], SENTENCES[language]
    assert list(texts) == list(english)
    for phrase, text in texts.items():
        assert holes_in(text) == holes_in(english[phrase]), phrase
        assert text.strip(), phrase
    if language != "en":
        same = {phrase for phrase in texts if texts[phrase] == english[phrase]}
        assert all(not holes_in(english[one]) or len(english[one]) < 45 for one in same)
        assert len(same) < 12


def test_values_are_put_in_as_they_are() -> None:
    """A value with braces is no place for another value."""
    assert ENGLISH("said", texts='"{{text}} {0}"') == 'Said "{{text}} {0}".'
    assert ENGLISH.count("items", 1) == "1 item"
    assert ENGLISH.count("items", 1200) == "1,200 items"
    assert ENGLISH.listed(["a", "b", "c"]) == "a, b and c"
    assert ENGLISH.listed(["a", "b", "c"], 1) == "a and 2 more"
    assert ENGLISH.listed([]) == ""


def test_a_region_has_the_sentences_of_its_language() -> None:
    """Case and the kind of dash do not matter."""
    assert usual("es_MX")("turn", number=1) == "Turno 1"
    assert usual("DE-at")("turn", number=1) == "Runde 1"


def test_the_hosts_own_come_first() -> None:
    """In its language, for the ids it has; its English ones stand in where ours are English."""
    own = {
        "es": {"story_turn": "Vuelta {{number}}", "flow_init": "x"},
        "nl": {"story_reply": "Antwoord"},
        "en": {"story_said": "Told them {{texts}}."},
    }
    assert wording("es", own)("turn", number=2) == "Vuelta 2"
    assert wording("es", own)("said", texts='"a"') == 'Se dijo "a".'
    dutch = wording("nl", own)
    assert dutch("reply") == "Antwoord"
    assert dutch("said", texts='"a"') == 'Told them "a".'
    assert wording("en", own)("said", texts='"a"') == 'Told them "a".'


def test_a_place_for_an_unknown_value_stays_as_written() -> None:
    """A host's sentence cannot make a narrative fail."""
    own = {"en": {"story_turn": "Turn {{number}} of {{total}} {x}"}}
    assert wording("en", own)("turn", number=3) == "Turn 3 of {{total}} {x}"


def test_an_unknown_language_is_refused() -> None:
    """The message says which there are."""
    with pytest.raises(CallerError) as refused:
        usual("xx")
    assert 'there is no narrative in "xx"' in str(refused.value)
    assert refused.value.hint == "there are de, en, es; `messages` may hold others"
