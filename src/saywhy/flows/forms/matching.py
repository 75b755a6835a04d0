"""Which inputs of a form does an answer fill, correct, or leave open?

Each input finds what may be its value (`readers`); here they are dealt out. A value beside the name
of its input belongs there. Then the question that was asked comes first, then what says of itself
what it is ("$80", an address, a date). What fits several inputs alike belongs to none of them: it
is a tie, and the form asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from saywhy.flows.forms.model import Input
from saywhy.flows.forms.readers import Given, spans_of
from saywhy.flows.forms.spans import Span
from saywhy.flows.forms.words import Words, bare, pattern, words_of, yes_or_no
from saywhy.helpers.words import visible

MAX_READ: Final = 600
"""Characters of an answer that are looked at; a longer one can only be a text."""
MAX_SPANS: Final = 12
"""Values of one kind in one answer that are looked at."""
MAX_NAME_WORDS: Final = 6

_PLAIN, _CLEAR, _ASKED, _NAMED = 2, 6, 5, 20
_LOOSE: Final = frozenset({"number", "amount"})
"""A bare number in passing ("at 5") is neither, unless it was asked for."""
_FEWEST_DIGITS: Final = 4
"""A shorter bare run of digits belongs to nobody who did not ask."""
_ODD_AMOUNT: Final = 1_000_000
"""A bare number as large as this is an amount only if no number of something else is wanted."""
_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_QUESTION: Final = re.compile(r"[?¿]")


class Slot(msgspec.Struct, frozen=True):
    """An input with where it stands in this form just now."""

    entry: Input
    filled: bool = False
    active: bool = True
    """Whether its condition holds; it may hold once another input is known."""


class Fill(msgspec.Struct, frozen=True):
    """A value for an input, and the words it was read from."""

    name: str
    value: Any
    words: str
    by: str = "rules"


class Tie(msgspec.Struct, frozen=True):
    """Words that fit several inputs alike: the value that each would take."""

    words: str
    values: dict[str, Any]


class Reading(msgspec.Struct, frozen=True):
    """What an answer says to a form."""

    fills: tuple[Fill, ...] = ()
    ties: tuple[Tie, ...] = ()
    changes: tuple[str, ...] = ()
    """Inputs that are to be asked again: "change the amount"."""
    refused: tuple[Fill, ...] = ()
    """What was understood and cannot be taken: an amount in another currency."""
    rest: str = ""
    """Words nobody took and that say something."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was understood."""
        return not (self.fills or self.ties or self.changes or self.refused)


class _Found(msgspec.Struct, frozen=True):
    slot: Slot
    span: Span
    score: int


def read(
    slots: Sequence[Slot],
    text: str,
    *,
    asked: str,
    language: str,
    now_ms: float,
    reviewing: bool = False,
) -> Reading:
    """What an answer to the question for the input `asked` says to the inputs.

    While `reviewing` the whole form was read out, so that any value may correct what stands there.
    """
    matcher = _Matcher(slots, Given(visible(text[:MAX_READ]), language, now_ms), asked, reviewing)
    return matcher.read(text)


class _Matcher:
    """One answer while it is dealt out."""

    def __init__(self, slots: Sequence[Slot], given: Given, asked: str, reviewing: bool) -> None:
        self.slots = slots
        self.given = given
        self.asked = next((slot for slot in slots if slot.entry.name == asked), None)
        self.words: Words = words_of(given.language)
        self.corrects = reviewing or pattern(self.words.corrects).search(given.text) is not None
        self.reviewing = reviewing
        self.fills: list[Fill] = []
        self.ties: list[Tie] = []
        self.refused: list[Fill] = []
        self.taken: list[Span] = []
        self.named = {slot.entry.name: self._mentions(slot) for slot in slots}

    def read(self, whole: str) -> Reading:
        if self._is_free_text():
            return self._free_text(whole)
        self._deal(self._candidates())
        self._cued()
        changes = self._changes()
        if self.asked is not None and self.asked.entry.kind == "name" and not changes:
            self._left_over(self.asked)
        return Reading(
            tuple(self.fills), tuple(self.ties), changes, tuple(self.refused), self._rest()
        )

    # -------------------------------------------------------- values that have a form

    def _candidates(self) -> list[_Found]:
        found: list[_Found] = []
        for slot in self.slots:
            is_asked = slot is self.asked
            for span in spans_of(slot.entry, self.given, asked=is_asked)[:MAX_SPANS]:
                score = self._score(slot, span)
                if score:
                    found.append(_Found(slot, span, score))
        return [one for one in found if not self._gives_way(one, found)]

    def _gives_way(self, one: _Found, found: list[_Found]) -> bool:
        """Whether what could be anything is part of what clearly is another input's: the 4 of
        "July 4", the digits of a telephone number in its usual form."""
        return (
            one.span.plain
            and one.score < _NAMED
            and any(
                not other.span.plain
                and other.slot is not one.slot
                and other.span.start <= one.span.start
                and one.span.end <= other.span.end
                for other in found
            )
        )

    def _score(self, slot: Slot, span: Span) -> int:
        """How sure it is that a stretch belongs to an input; 0: it does not."""
        is_asked = slot is self.asked
        score = (_PLAIN if span.plain else _CLEAR) - (0 if slot.active else 1)
        if self._is_named(slot, span):
            return score + _NAMED
        if slot.filled and not self.corrects:
            return 0
        if span.plain and not is_asked and not self._may_take_plain(slot, span):
            return 0
        is_odd = span.plain and slot.entry.kind in _LOOSE and span.value >= _ODD_AMOUNT
        return score + (_ASKED if is_asked and not is_odd else 0)

    def _may_take_plain(self, slot: Slot, span: Span) -> bool:
        """Whether an input that was not asked for may take what could be anything."""
        kind = slot.entry.kind
        if slot.filled:
            return self.asked is None or self.corrects
        if kind in _LOOSE:
            return False
        if kind in ("digits", "identifier"):
            return len(str(span.value)) >= _FEWEST_DIGITS
        return True

    def _deal(self, found: list[_Found]) -> None:
        """The surest first; what several want alike is a tie."""
        while found:
            best = self._meant(found, min(found, key=lambda one: (-one.score, one.span.start)))
            rivals = [one for one in found if self._rivals(one, best)]
            if len(rivals) > 1:
                self._tie(rivals)
            elif not self._is_open(found, best):
                self._take(best)
            names = {one.slot.entry.name for one in rivals}
            found = [
                one
                for one in found
                if one.slot.entry.name not in names and not one.span.overlaps(best.span)
            ]

    def _meant(self, found: list[_Found], best: _Found) -> _Found:
        """Of several values for one input the last, where a correction stands between them."""
        meant = best
        for one in found:
            if one.slot is best.slot and one.score == best.score:
                between = self.given.text[meant.span.end : one.span.start]
                is_new = one.slot.filled and self._link(meant, one) in self.words.until
                if between and (is_new or pattern(self.words.corrects).search(between)):
                    meant = one
        return meant

    def _is_open(self, found: list[_Found], best: _Found) -> bool:
        """Whether the user names two values and has not decided: "80 or 90", "80 to 90 dollars"."""
        rivals = [one for one in found if one.slot is best.slot and one is not best]
        return any(self._links(one, best) or self._is_more(found, best, one) for one in rivals)

    def _is_more(self, found: list[_Found], best: _Found, last: _Found) -> bool:
        """Whether a second value follows that no other input wants: "80 and 90"."""
        if best.score != last.score or self._link(best, last) != self.words.between[1]:
            return False
        rest = [one for one in found if one.slot is not last.slot]
        return not any(one.span.overlaps(last.span) for one in rest)

    def _links(self, one: _Found, best: _Found) -> bool:
        first, last = sorted((one, best), key=lambda each: each.span.start)
        link = self._link(first, last)
        if link in self.words.either:
            return True
        if first.score != last.score and not (first.span.plain and last is best):
            return False  # "80 dollars to 555": only one of them is money
        if link in self.words.until:
            return not (best.slot.filled and last is best)  # "from 80 to 90" changes it
        opens, closes = self.words.between
        before = self.given.text[: first.span.start]
        return link == closes and pattern((opens,)).search(before) is not None

    def _link(self, first: _Found, last: _Found) -> str:
        """What stands between two values, in small letters; a hyphen alone counts."""
        text = self.given.text[first.span.end : last.span.start]
        return (bare(text) or text.strip()).lower()

    def _rivals(self, one: _Found, best: _Found) -> bool:
        if one is best:
            return True
        is_other = one.slot is not best.slot
        return is_other and one.score == best.score and one.span.overlaps(best.span)

    def _take(self, found: _Found) -> None:
        span, name = found.span, found.slot.entry.name
        self.taken.append(span)
        if span.refused:
            self.refused.append(Fill(name, span.value, span.refused))
        else:
            self._fill(name, span.value, span)

    def _fill(self, name: str, value: Any, span: Span) -> None:
        self.fills.append(Fill(name, value, self.given.text[span.start : span.end].strip()))

    def _tie(self, rivals: list[_Found]) -> None:
        start = min(one.span.start for one in rivals)
        end = max(one.span.end for one in rivals)
        self.taken.append(Span(start, end))
        values = {one.slot.entry.name: one.span.value for one in rivals}
        self.ties.append(Tie(self.given.text[start:end].strip(), values))

    # -------------------------------------------------------- names of inputs

    def _mentions(self, slot: Slot) -> list[tuple[int, int]]:
        label = slot.entry.label(self.given.language)
        found = pattern((label,)).finditer(self.given.text) if label else ()
        return [match.span() for match in found]

    def _is_named(self, slot: Slot, span: Span) -> bool:
        """Whether the name of the input stands beside a value, joined by words that say nothing."""
        text = self.given.text
        for start, end in self.named[slot.entry.name]:
            between = text[end : span.start] if end <= span.start else text[span.end : start]
            if start < span.end and span.start < end:
                continue
            if self._joins(between):
                return True
        return False

    def _joins(self, between: str) -> bool:
        known = pattern((*self.words.joins, *self.words.articles))
        return not bare(known.sub(" ", between.replace("'s", " ").replace(":", " ")))

    def _changes(self) -> tuple[str, ...]:
        """Filled inputs that are named with a wish to change them, and got no value."""
        done = {fill.name for fill in (*self.fills, *self.refused)}
        done.update(name for tie in self.ties for name in tie.values)
        asks = pattern(self.words.changes).search(self.given.text) is not None
        if not asks and not (self.reviewing and self._refuses()):
            return ()
        return tuple(
            slot.entry.name
            for slot in self.slots
            if slot.filled and self.named[slot.entry.name] and slot.entry.name not in done
        )

    def _refuses(self) -> bool:
        first = self.given.text.split(maxsplit=1)[:1]
        return bool(first) and yes_or_no(first[0], self.given.language) is False

    # -------------------------------------------------------- texts and names

    def _is_free_text(self) -> bool:
        return self.asked is not None and self.asked.entry.kind == "text"

    def _free_text(self, whole: str) -> Reading:
        """A text takes the whole answer, unless it corrects something by its name."""
        assert self.asked is not None, "a text is only taken whole where it was asked for"
        if self.corrects:
            self._deal([one for one in self._candidates() if one.score >= _NAMED])
            changes = self._changes()
            if self.fills or self.refused or changes:
                return Reading(tuple(self.fills), (), changes, tuple(self.refused))
        text = whole.strip()
        fills = (Fill(self.asked.entry.name, text, text),) if text else ()
        return Reading(fills)

    def _cued(self) -> None:
        """Names and texts behind a word that the author says introduces them: "to Ann"."""
        if pattern(self.words.wonders).match(bare(self.given.text)) is not None:
            return
        for slot in self.slots:
            if slot.entry.kind not in ("name", "text") or (slot.filled and not self.corrects):
                continue
            if any(fill.name == slot.entry.name for fill in self.fills):
                continue
            for start in self._starts(slot):
                span = self._run(start, slot.entry.kind)
                if span is not None:
                    self._fill(slot.entry.name, self.given.text[span.start : span.end], span)
                    self.taken.append(span)
                    break

    def _starts(self, slot: Slot) -> Iterable[int]:
        text = self.given.text
        for _, end in self.named[slot.entry.name]:
            joined = re.compile(r"\s*(?::|=)\s*|\s+(?:is|es|to|a)\s+").match(text, end)
            if joined is not None:
                yield joined.end()
        cues = slot.entry.words("cues", self.given.language)
        if cues:
            for match in pattern(cues).finditer(text):
                yield match.end()

    def _run(self, start: int, kind: str) -> Span | None:
        """The words from `start` on: a text to the end, a name up to what is none."""
        text = self.given.text
        end = min([span.start for span in self.taken if span.start >= start], default=len(text))
        if kind == "text":
            found = bare(text[start:end])
            at = text.find(found, start) if found else -1
            return Span(at, at + len(found)) if found else None
        words: list[re.Match[str]] = []
        for word in _WORD.finditer(text, start, end):
            gap = text[words[-1].end() if words else start : word.start()]
            if gap.strip(" .") or not self._is_name_word(word[0]) or len(words) >= MAX_NAME_WORDS:
                break
            words.append(word)
        return Span(words[0].start(), words[-1].end()) if words else None

    def _is_name_word(self, word: str) -> bool:
        folded = word.lower()
        words = self.words
        known = (*words.stops, *words.both, *words.wonders, *words.asks, *words.corrects)
        return folded not in known and not any(character.isdigit() for character in word)

    def _left_over(self, slot: Slot) -> None:
        """A name that was asked for is what nobody else took, if that looks like one."""
        name = slot.entry.name
        done = any(fill.name == name for fill in self.fills)
        corrected = any(self._was_filled(fill.name) for fill in self.fills)
        if done or corrected or self.ties or _QUESTION.search(self.given.text):
            return
        text = bare(self._untaken())
        lead = pattern(self.words.leads).match(text)
        while lead is not None and bare(text[lead.end() :]):
            text = bare(text[lead.end() :])
            lead = pattern(self.words.leads).match(text)
        words = _WORD.findall(text)
        asks = pattern((*self.words.wonders, *self.words.asks)).match(text) is not None
        is_name = 0 < len(words) <= MAX_NAME_WORDS and not asks and self._says_something(words)
        if len(words) == 1 and words[0].istitle() and words[0].lower() in self.words.asks:
            is_name = True  # Will is also a name
        has_digit = any(character.isdigit() for character in text)
        if is_name and not has_digit and yes_or_no(text, self.given.language) is None:
            self.fills.append(Fill(name, text, text))
            self.taken = [Span(0, len(self.given.text))]

    def _was_filled(self, name: str) -> bool:
        return any(slot.filled and slot.entry.name == name for slot in self.slots)

    def _untaken(self) -> str:
        text = self.given.text
        for span in sorted(self.taken, key=lambda span: -span.start):
            text = f"{text[: span.start]} {text[span.end :]}"
        return " ".join(text.split())

    def _rest(self) -> str:
        """What is left, if there is a word in it that says something."""
        text = self._untaken()
        return text if self._says_something(_WORD.findall(text)) else ""

    def _says_something(self, words: list[str]) -> bool:
        """Whether a word is neither a filler nor part of the name of an input."""
        known = {*self.words.both, *self.words.corrects, *self.words.changes}
        for slot in self.slots:
            known.update(slot.entry.label(self.given.language).lower().split())
        return any(word.lower() not in known for word in words)
