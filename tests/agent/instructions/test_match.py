"""Promise: whether a message asks for an action is decided by words, and these are known."""

from __future__ import annotations

import pytest

from saywhy.agent.instructions.match import (
    ConditionMatch,
    default_condition_matcher,
    match_condition,
    unicode_condition_matcher,
)


@pytest.mark.parametrize(
    ("condition", "message", "words"),
    [
        ("User asks why it failed", "Why did this happen?", ("why",)),
        ("why why WHY", "why", ("why",)),
        ("asks about billing or shipping", "shipping and billing", ("billing", "shipping")),
        ("user wants follow-up", "a followup please", ("followup",)),
        ("to be or it", "to be or it", ()),
        ("no", "no", ()),
        ("", "", ()),
    ],
)
def test_the_words_that_decide(condition: str, message: str, words: tuple[str, ...]) -> None:
    """Words both have, whole ones, in the order of the condition."""
    found = match_condition(condition, message)
    assert found.words == words
    assert found.matched is default_condition_matcher(condition, message) is bool(words)


def test_what_was_looked_for() -> None:
    """Without a hit the record still says what would have been one."""
    found = match_condition("User asks why it failed", "Show me the weather")
    assert found == ConditionMatch(False, (), ("why", "failed"))


@pytest.mark.parametrize(
    ("condition", "message", "hits"),
    [
        ("Nutzer fragt nach Überweisung", "wo ist meine überweisung?", True),
        ("Nutzer fragt nach Überweisung", "wo ist meine Uberweisung", True),
        ("Nutzer fragt nach Überweisung", "wo ist mein Geld", False),
        ("l'utilisateur demande un café", "un cafe", True),
        ("пользователь спрашивает почему", "Почему отказ?", True),
        ("пользователь спрашивает почему", "Погода", False),
        ("用户询问退款", "我要退款", True),
        ("用户询问退款", "天气很好", False),
        ("ผู้ใช้ถามเหตุผล", "บอกเหตุผลหน่อย", True),
        ("asks about order 42", "42?", True),
        ("STRASSE", "straße", True),
        ("ｗｈｙ", "why", True),
        ("user wants this", "this user", False),
    ],
)
def test_all_scripts(condition: str, message: str, hits: bool) -> None:
    """Letters of any script count; case, width and accents of Latin letters do not."""
    assert unicode_condition_matcher(condition, message) is hits


def test_letters_that_only_look_accented_stay() -> None:
    """In other scripts a mark makes another letter."""
    assert not unicode_condition_matcher("мой дом", "мои")
    assert unicode_condition_matcher("каждый", "КАЖДЫЙ")


def test_stop_words_of_a_language() -> None:
    """They are folded like the texts."""
    german = ("der", "die", "nach", "fragt", "nutzer", "über")
    asked = "Nutzer fragt über die Gründe"
    assert not unicode_condition_matcher(asked, "er fragt über die Nutzer", stop_words=german)
    assert unicode_condition_matcher(asked, "grunde?", stop_words=german)


def test_the_usual_way_knows_no_other_letters() -> None:
    """It deletes them, as documented: that is why there is another one."""
    assert not default_condition_matcher("почему", "почему")
    assert default_condition_matcher("café", "caf")
