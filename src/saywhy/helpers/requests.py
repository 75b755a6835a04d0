"""Does somebody ask for a person, or for something that was not offered, instead of answering?"""

from __future__ import annotations

import re
from typing import Any, Final

from saywhy.helpers.words import FILLERS, fold, listed, plain_words, text_of, without

_PEOPLE: Final = (
    "agents?|representatives?|reps?|operators?|humans?|supervisors?|managers?|advisors?|associates?"
    "|receptionist|(?:live|real|actual|human) (?:person|being|agent)"
    "|customer (?:service|support|care)"
    "|live (?:help|support)"
    "|agentes?|representantes?|operador(?:a|es)?|telefonista|humanos?|supervisor(?:a|es)?|gerentes?"
    "|asesor(?:a|es)?|ejecutiv[oa]s?|encargad[oa]|persona (?:real|de verdad|viva)|ser humano"
    "|servicio al? clientes?|atencion al? clientes?"
)
"""Who is meant when they are all that an answer names."""

_ANYBODY: Final = (
    r"someone|somebody|anyone|anybody|(?:a|una) persona?|a person|people|alguien|person"
)
"""Who is meant only with a word for talking."""

_TALK: Final = (
    r"speak|talk|chat|connect|transfer|put|forward|hablar|hable|platicar|comuni[cq]\w*|pas[ae]r?(?:me)?"
    r"|paseme|pasame|transf\w+|conect\w+|ponga?me|ponerme|atienda\w*"
)
_WANT: Final = (
    r"get|give|need|want|reach|have|call|prefer|like|send|bring"
    r"|necesito|quiero|quisiera|deme|dame|prefiero|busco|llame|llamen"
)
_BETWEEN: Final = (
    r"(?:\s+(?:me|us|to|with|through|on|over|for|a|an|the|your|some|any|live|real|actual|human"
    r"|another|different|of|it|this|directly|please|now|right|one|from|in"
    r"|speak|talk|hablar|que|con|un|una|el|la|su|sus|algun|alguna|otro|otra|en|directamente|por|favor"
    r"|me|nos|persona|de|del|al|lo|a)){0,7}\s+"
)
_ASKED: Final = re.compile(
    rf"\b(?:(?:{_TALK}|{_WANT}){_BETWEEN}(?:{_PEOPLE})|(?:{_TALK}){_BETWEEN}(?:{_ANYBODY}))\b"
)
_DENIED: Final = re.compile(
    r"\b(?:don't|do not|didn't|not|never|without|no need"
    r"|no (?:quiero|necesito|quisiera|hace falta|me)|nunca|sin)\b"
)
_OF_ANOTHER: Final = re.compile(
    r"^\s+(?:'s|number|name|email|id|phone|said|told|called|dijo|llamo|me dijo|fee|code)\b|^'s"
)
_CLAUSES: Final = r"[.,;:!?¿¡…]+| but | pero "
_ALONE: Final = re.compile(rf"\b(?:{_PEOPLE})\b")
_SMALL: Final = FILLERS | listed(
    """a an the to with your any live real human person i i'd want need get give me can could may
    un una el la los las con de al a su quiero necesito deme dame puedo puede"""
)


def is_agent_request(text: Any = None, language: Any = "") -> bool:
    """Whether the answer asks for a person: `agent`, `let me talk to someone`, `con un asesor`.

    Somebody else's agent, and one that is not wanted, do not count. A key such as `0` is the flow's
    own: compare it there. English and Spanish are understood whatever the language is.
    """
    said = re.sub(r"\s+", " ", fold(text_of(text)).replace("’", "'"))
    for clause in re.split(_CLAUSES, said):
        asked = _ASKED.search(clause)
        if asked is not None:
            behind = clause[asked.end() :]
            if not _DENIED.search(clause[: asked.end()]) and not _OF_ANOTHER.match(behind):
                return True
        elif _is_alone(clause):
            return True
    return False


def _is_alone(clause: str) -> bool:
    """Whether a clause is nothing but the word for such a person."""
    if _DENIED.search(clause):
        return False
    left, count = _ALONE.subn(lambda _: " ", clause) if _ALONE.search(clause) else (clause, 0)
    return count > 0 and not without(plain_words(left), _SMALL)


# ------------------------------------------------------------------ something else

_PHRASES: Final = """
    something else | something different | somewhere else | some other | someone else |
    another one | another option | another thing | different one | different option |
    other option | other options | the other thing | none of these | none of those |
    none of them | none of the above | none of that | neither of them | neither of those |
    not any of those | not any of these | not listed | not there | not on the list |
    not in the list | isn't listed | isn't there | isn't on the list | different question |
    other question | another question | otra cosa | otras cosas | otro tema | otra opcion |
    otro asunto | algo mas | algo distinto | algo diferente | ninguno de esos | ninguna de esas
    | ninguno de estos | ninguna de estas | ninguno de los anteriores |
    ninguna de las anteriores | ninguna de las opciones | no esta en la lista | no esta ahi |
    no aparece | otra pregunta | nada de eso
"""
_OTHER: Final = tuple(phrase.split() for phrase in _PHRASES.replace("\n", " ").split("|"))
_OTHER_ALONE: Final = listed(
    """other others another none neither else different otro otra otros otras ninguno ninguna
    ninguno distinto diferente"""
)
_BESIDE: Final = FILLERS | listed(
    """a an the i i'd i'm want need it's its is one it for have option of ones it un una el la lo
    es quiero necesito opcion por"""
)
_REFUSED: Final = listed("""don't not nothing nada isn't no""")


def is_other_request(text: Any = None, language: Any = "") -> bool:
    """Whether the answer asks for what was not offered: `something else`, `ninguna de esas`.

    English and Spanish are understood whatever the language is.
    """
    clauses = [plain_words(part) for part in re.split(_CLAUSES, fold(text_of(text)))]
    if any(_asks_other(words) for words in clauses):
        return True
    left = without([word for words in clauses for word in words], _BESIDE | {"no"})
    return bool(left) and all(word in _OTHER_ALONE for word in left)


def _asks_other(words: list[str]) -> bool:
    """Whether a clause holds one of the phrases, with no `not` shortly before it."""
    for phrase in _OTHER:
        for at in range(len(words) - len(phrase) + 1):
            if words[at : at + len(phrase)] == phrase:
                before = words[max(0, at - 3) : at]
                return phrase[0] in _REFUSED or not (_REFUSED & set(before) and before != ["no"])
    return False
