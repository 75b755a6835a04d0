"""Whether somebody agreed: yes, no, or neither, in the languages of the library.

Only plain words count. What is asked is whether to take back something that was done, so a sentence
that may mean either is asked again.
"""

from __future__ import annotations

import re
from typing import Final

from saywhy.flows.corrections.patterns import fold
from saywhy.flows.languages import nearest

MOST_WORDS: Final = 4

YES: Final = {
    "en": "yes|yeah|yep|yup|sure|ok|okay|please do|do it|go ahead|agreed|correct",
    "es": "si|claro|vale|ok|de acuerdo|hazlo|hagalo|adelante|por supuesto|correcto|dale",
    "pt": "sim|claro|ok|de acordo|pode|faca isso|com certeza|correto",
    "fr": "oui|ouais|d'accord|ok|bien sur|allez-y|vas-y|volontiers",
    "de": "ja|jawohl|klar|ok|okay|gern|gerne|einverstanden|mach das|bitte",
}
NO: Final = {
    "en": "no|nope|don't|do not|never mind|leave it|stop|rather not",
    "es": "no|mejor no|dejalo|dejelo|para nada|en absoluto",
    "pt": "nao|deixa|deixe|melhor nao|de jeito nenhum",
    "fr": "non|laisse|laissez|surtout pas|pas du tout",
    "de": "nein|nee|lieber nicht|lass es|lassen sie es|nicht",
}

_ALL: Final = re.compile(r"[^\w' -]+")


def wants_it(text: str, language: str) -> bool | None:
    """Yes is true, no is false, anything else None. English counts in every language."""
    words = " ".join(_ALL.sub(" ", fold(text)).split())
    if not words or len(words.split()) > MOST_WORDS:
        return None
    for tag in (*nearest(language), "en"):
        says_yes, says_no = _begins(words, YES.get(tag)), _begins(words, NO.get(tag))
        if says_yes != says_no:
            return says_yes
    return None


def _begins(words: str, known: str | None) -> bool:
    return bool(known) and re.match(rf"(?:{known})(?![\w'])", words) is not None
