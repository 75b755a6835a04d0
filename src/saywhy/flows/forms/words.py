"""Words that mean the same in every form: yes, no, a correction, a number, a connecting word.

By language; a language without words of its own uses the English ones. English and Spanish are
whole; of Portuguese, French and German there is what agreeing and correcting takes.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

import msgspec


class Words(msgspec.Struct, frozen=True):
    """The words of one language."""

    yes: tuple[str, ...]
    no: tuple[str, ...]
    polite: tuple[str, ...]
    """What may stand beside a yes or no and changes nothing."""
    corrects: tuple[str, ...]
    """What introduces a correction of something said before."""
    changes: tuple[str, ...]
    """What asks to change something, without saying how."""
    joins: tuple[str, ...]
    """What may stand between the name of an input and its value."""
    articles: tuple[str, ...]
    wonders: tuple[str, ...]
    """How questions begin that give no value."""
    asks: tuple[str, ...]
    """How other questions begin: they may ask for something, but they are no names."""
    leads: tuple[str, ...]
    """What may stand before a name: "my name is Ann"."""
    stops: tuple[str, ...]
    """Where a name ends."""
    both: tuple[str, ...]
    """Words that say nothing by themselves."""
    either: tuple[str, ...]
    """What stands between two values of which neither is meant yet."""
    until: tuple[str, ...]
    """What stands between the ends of a range, or between an old value and a new one."""
    between: tuple[str, str]
    """How a range begins, and what then stands between its ends."""


ENGLISH: Final = Words(
    yes=("yes", "yeah", "yep", "yup", "y", "sure", "ok", "okay", "correct", "right", "confirm",
         "confirmed", "i confirm", "go ahead", "do it", "send it", "that's right", "thats right",
         "that is right", "that's correct", "that is correct", "of course", "absolutely"),
    no=("no", "nope", "nah", "n", "not", "never", "don't", "do not", "no way", "not now",
        "don't do it", "do not do it", "don't send it", "do not send it"),
    polite=("please", "thanks", "thank you", "sir", "madam", "it is", "it's", "that's", "fine",
            "good", "perfect", "great"),
    corrects=("no", "nope", "not", "actually", "sorry", "i meant", "i mean", "rather", "instead",
              "make it", "make that", "wait", "wrong", "correction", "change", "should be", "but"),
    changes=("change", "correct", "edit", "fix", "update", "modify", "wrong", "not right"),
    joins=("is", "are", "was", "to", "be", "should", "it", "number", "of", "equals", "for", "as",
           "would", "will", "no", "not", "now", "a", "an", "the", "on"),
    articles=("the", "my", "your", "a", "an", "his", "her", "our"),
    wonders=("what", "how", "why", "when", "where", "who", "which"),
    asks=("can", "could", "do", "does", "is", "are", "will", "would", "should"),
    leads=("my name is", "the name is", "name is", "i am", "i'm", "this is", "it is", "it's",
           "to", "for", "from", "called", "named"),
    stops=("on", "at", "by", "for", "from", "with", "and", "to", "in", "please", "next", "this",
           "the", "is", "but", "about", "because"),
    both=("the", "a", "an", "to", "for", "of", "on", "at", "in", "and", "is", "it", "i", "my",
          "me", "please", "yes", "no", "ok", "okay", "thanks", "want", "would", "like", "with",
          "from", "by", "be", "uh", "um", "hmm", "er", "well",
          "that", "this", "sorry", "actually", "make", "pay",
          "send", "number", "will"),
    either=("or",),
    until=("to", "through", "until", "-", "–"),
    between=("between", "and"),
)  # fmt: skip

SPANISH: Final = Words(
    yes=("sí", "si", "claro", "correcto", "vale", "de acuerdo", "confirmo", "confirmado", "así es",
         "por supuesto", "adelante", "hazlo", "hágalo", "está bien", "ok", "exacto", "eso es"),
    no=("no", "nunca", "para nada", "no lo hagas", "no lo haga", "ahora no", "mejor no"),
    polite=("por favor", "gracias", "señor", "señora", "perfecto", "muy bien", "está bien"),
    corrects=("no", "perdón", "perdone", "quise decir", "quiero decir", "mejor", "en realidad",
              "más bien", "espere", "espera", "corrección", "cambia", "cambie", "cambiar",
              "que sea", "que sean", "sino"),
    changes=("cambiar", "cambia", "cambie", "corregir", "corrige", "corrija", "modificar",
             "modifica", "modifique", "está mal", "equivocado", "equivocada"),
    joins=("es", "son", "era", "a", "de", "será", "sea", "por", "número", "el", "la", "no", "que",
           "debe", "ser", "ahora", "para"),
    articles=("el", "la", "los", "las", "mi", "su", "un", "una"),
    wonders=("qué", "por qué", "para qué", "cómo", "cuándo", "dónde", "quién", "cuál", "cuánto",
             "cuánta"),
    asks=("puedo", "puede", "hay", "es", "está"),
    leads=("me llamo", "mi nombre es", "el nombre es", "soy", "se llama", "a nombre de", "para",
           "a", "de"),
    stops=("el", "la", "en", "por", "para", "con", "de", "y", "a", "que", "este", "esta", "pero"),
    both=("el", "la", "los", "las", "un", "una", "a", "para", "de", "en", "y", "es", "por",
          "favor", "sí", "si", "no", "gracias", "quiero", "mi", "me", "con", "que", "eh", "em",
          "pues", "perdón", "mejor", "pagar", "enviar", "número"),
    either=("o", "u"),
    until=("a", "hasta", "-", "–"),
    between=("entre", "y"),
)  # fmt: skip

PORTUGUESE: Final = msgspec.structs.replace(
    SPANISH,
    yes=("sim", "claro", "correto", "certo", "isso", "confirmo", "pode ser", "com certeza", "ok"),
    no=("não", "nao", "nunca", "de jeito nenhum", "agora não"),
    polite=("por favor", "obrigado", "obrigada", "está bem", "perfeito"),
    corrects=("não", "nao", "desculpe", "quis dizer", "quero dizer", "na verdade", "melhor",
              "mude", "muda", "mudar", "errado", "que seja", "mas sim"),
    changes=("mudar", "mude", "muda", "corrigir", "corrija", "alterar", "altere", "errado",
             "errada", "está mal"),
    joins=("é", "são", "a", "o", "de", "será", "seja", "por", "número", "não", "que", "para"),
    articles=("o", "a", "os", "as", "meu", "minha", "um", "uma"),
    wonders=("o que", "que", "por que", "como", "quando", "onde", "quem", "qual", "quanto"),
    leads=("meu nome é", "o nome é", "me chamo", "sou", "para", "a", "de"),
    either=("ou",),
    until=("a", "até", "para", "-", "–"),
    between=("entre", "e"),
)  # fmt: skip

FRENCH: Final = msgspec.structs.replace(
    SPANISH,
    yes=("oui", "ouais", "d'accord", "c'est ça", "c'est bon", "exact", "je confirme",
         "bien sûr", "ok", "allez-y"),
    no=("non", "pas du tout", "jamais", "pas maintenant"),
    polite=("s'il vous plaît", "s'il te plaît", "merci", "parfait", "très bien"),
    corrects=("non", "pardon", "désolé", "je voulais dire", "plutôt", "en fait", "changez",
              "change", "changer", "faux", "mais"),
    changes=("changer", "changez", "change", "corriger", "corrigez", "modifier", "modifiez",
             "faux", "fausse"),
    joins=("est", "sont", "à", "le", "la", "de", "sera", "soit", "par", "numéro", "non", "pour"),
    articles=("le", "la", "les", "mon", "ma", "un", "une"),
    wonders=("quoi", "que", "qu'est-ce", "pourquoi", "comment", "quand", "où", "qui", "quel",
             "quelle", "combien"),
    leads=("je m'appelle", "mon nom est", "le nom est", "je suis", "pour", "à", "c'est"),
    either=("ou",),
    until=("à", "jusqu'à", "-", "–"),
    between=("entre", "et"),
)  # fmt: skip

GERMAN: Final = msgspec.structs.replace(
    ENGLISH,
    yes=("ja", "jawohl", "genau", "richtig", "stimmt", "korrekt", "klar", "gerne", "okay", "ok",
         "in ordnung", "bestätigt"),
    no=("nein", "nö", "nicht", "niemals", "lieber nicht", "jetzt nicht"),
    polite=("bitte", "danke", "vielen dank", "das", "passt", "gut", "perfekt"),
    corrects=("nein", "nicht", "doch", "entschuldigung", "ich meine", "ich meinte", "lieber",
              "eigentlich", "ändere", "ändern", "falsch", "sondern"),
    changes=("ändern", "ändere", "ändern sie", "korrigieren", "korrigiere", "falsch",
             "stimmt nicht"),
    joins=("ist", "sind", "auf", "an", "der", "die", "das", "soll", "sein", "nummer", "nein",
           "für"),
    articles=("der", "die", "das", "den", "mein", "meine", "ein", "eine"),
    wonders=("was", "wie", "warum", "wann", "wo", "wer", "welche", "welcher", "welches",
             "wieso"),
    leads=("ich heiße", "mein name ist", "der name ist", "ich bin", "an", "für"),
    either=("oder",),
    until=("bis", "auf", "-", "–"),
    between=("zwischen", "und"),
)  # fmt: skip

_TABLES: Final = {
    "en": ENGLISH,
    "es": SPANISH,
    "pt": PORTUGUESE,
    "fr": FRENCH,
    "de": GERMAN,
}
_EDGES: Final = re.compile(r"^[\s.,;:!?¡¿\"']+|[\s.,;:!?¡¿\"']+$")


def words_of(language: str) -> Words:
    """The words of a language."""
    return _TABLES.get(language[:2].lower(), ENGLISH)


@cache  # one pattern a language and kind of word
def pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Any of these words, as whole words, longer ones first."""
    ordered = sorted(words, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, ordered))})(?!\w)", re.IGNORECASE)


def yes_or_no(text: str, language: str) -> bool | None:
    """Whether a whole answer agrees or refuses; None where it says anything else."""
    words = words_of(language)
    rest = bare(text)
    for meaning, known in ((True, words.yes), (False, words.no)):
        found = pattern(known).match(rest)
        if found is None:
            continue
        while found is not None:
            rest = bare(rest[found.end() :])
            found = pattern((*known, *words.polite)).match(rest)
        return meaning if not rest else None
    return None


def bare(text: str) -> str:
    """A text without signs and blanks around it."""
    return _EDGES.sub("", text)
