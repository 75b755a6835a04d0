"""Where in one conversation sensitive values are, and so what of each step must be masked.

It begins at what was declared and goes on by what was read: a step that read a sensitive value and
wrote something wrote something sensitive, wherever that is read next, in a later turn as well. What
was decided on is no value: the branch that was taken stays visible, and what is set in a branch
counts as what it is made of. How a part of a commit looks without its values is answered by `veil`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from saywhy.chart.commit import Answered, Commit, Op
from saywhy.trace.masking.content import Content, content_of
from saywhy.trace.masking.declared import Declared, Spot
from saywhy.trace.masking.filled import is_filled_in
from saywhy.trace.masking.known import KnownPlaces
from saywhy.trace.masking.places import found_at, is_something, of_one_value, places_but
from saywhy.trace.masking.run_facts import is_of_the_run
from saywhy.trace.masking.texts import distinctive, given
from saywhy.trace.masking.veil import (
    is_refused,
    veil,
    veil_answered,
    veil_asked,
    veil_at,
    veil_but,
    veil_call,
    veil_decision,
    veil_facts,
    veil_named,
    veil_talk,
    veil_wanted,
    wanted_in,
)
from saywhy.values import Key, raw

SENSITIVE: Final = "sensitive"
"""Under which name a session keeps what is known of its sensitive places."""
_SPEECH: Final = frozenset([("session", "queue"), ("session", "tentative"), ("turn", "reply")])
_BOOKKEEPING: Final = frozenset(["session", "turn", "routing"])
_KEYPAD: Final = ("cargo", "digits")
_OWN_WORDS: Final = frozenset(["SAY", "SAY-GET", "FORM"])
"""Steps whose words are templates, of which only what was filled in may be sensitive."""
_ANSWERED: Final = frozenset(["tool", "model", "function", "reconcile", "settle", "approval"])
_CALLING: Final = frozenset(["tool", "model", "function"])
"""Needs that begin something; the others ask about a call that was begun."""
_CALLED: Final = frozenset(["call", "fork"])
_QUOTED: Final = re.compile(r'"[^"]*"')
_NONE: Final[frozenset[str]] = frozenset()


class Taint:
    """The sensitive places of one conversation, and what each commit shows without them."""

    def __init__(self, declared: Declared, mark: str, kept: Mapping[str, Any] | None = None):
        self.declared = declared
        self.mark = mark
        self.texts: list[str] = []
        """What was found to be sensitive by the commit followed last, to be masked elsewhere."""
        self.declared_texts: list[str] = []
        """Those of them that an author declared."""
        self.shown: dict[str, str] = {}
        """Texts that were said → how they are to be shown."""
        self._own = ""
        """A sentence of the engine's in the commit that is followed: not a text to look for."""
        self._harmless: tuple[Spot, ...] = ()
        """Where in the answer of the commit that is followed nothing sensitive is."""
        self._heard: dict[str, Key] = {}
        """The user's messages of this turn, by their text → where they stand."""
        self.afterwards = False
        """Commits are followed that were made before it was known what is sensitive in them: then
        nobody has noted which of a step's own words were filled in."""
        self.grown = 0
        """Grows with every place that was not known before."""
        self._places = KnownPlaces()
        self._open: dict[str, list[str] | None] = {}
        self._openers: dict[int, int] = {}
        self.shown.update((kept or {}).get("shown") or {})
        for frame, names in ((kept or {}).get("open") or {}).items():
            self._open[frame] = None if names is None else list(raw(names))
        for seq, frame in ((kept or {}).get("openers") or {}).items():
            self._openers[int(seq)] = frame
        for path in declared.paths:
            self.add(path, declared=True)
        for key, is_declared in (kept or {}).get("keys") or ():
            self.add(tuple(raw(key)), declared=bool(is_declared))
        self._written = self.grown

    # ------------------------------------------------------------ places

    def add(self, key: Key, *, declared: bool = False) -> None:
        """From here on what stands at `key` is sensitive."""
        if self._places.add(key, declared=declared):
            self.grown += 1

    def covers(self, key: Key) -> bool:
        """Whether something sensitive may stand at `key`, in it or around it."""
        return self._places.covers(key)

    def kept(self) -> dict[str, Any]:
        """All of it as JSON, for the steps and turns to come."""
        made: dict[str, Any] = {
            "keys": [[list(key), told] for key, told in self._places],
            "open": dict(self._open),
            "shown": dict(self.shown),
            "openers": {str(seq): frame for seq, frame in self._openers.items()},
        }
        return {name: one for name, one in made.items() if one}

    @property
    def is_new(self) -> bool:
        """Whether something was learnt since this was asked last."""
        changed, self._written = self.grown != self._written, self.grown
        return changed

    def is_handed(self, frame: int) -> bool:
        """Whether a frame waits for an answer to sensitive values."""
        return str(frame) in self._open

    def hidden_arguments(self, frame: int, args: Any) -> Any:
        """The arguments of a call that a frame waits for, as they may be shown."""
        if str(frame) not in self._open:
            return args
        names, inside = self._open[str(frame)], raw(args)
        given_names = frozenset(inside if isinstance(inside, Mapping) else ())
        clean = given_names.difference(given_names if names is None else names)
        return raw(veil_named(args, clean, self.mark))

    # ------------------------------------------------------------ following

    def follow(self, commit: Commit) -> Commit:
        """The commit without sensitive values; what it wrote of them is known from here on."""
        self.texts, self.declared_texts, self._own, self._harmless = [], [], "", ()
        for said in commit.secrets:
            if not isinstance(said, str):
                self._show(*said)
            elif said in self.shown:  # in part so far
                self._show(said, self.mark)
        self._note_words(commit)
        self._note_opening(commit)
        commit = self._wanted(commit)
        is_declared = self._is_declared(commit)
        reads = tuple(key for key in commit.reads if self.covers(key))
        is_answer = self._is_answer(commit)
        if is_declared and commit.kind == "FORM" and not reads:
            return self._filled(commit)
        if is_declared or reads or is_answer:
            return self._veiled(commit, reads, is_declared=is_declared, is_answer=is_answer)
        return self._at_places(commit)

    def again(self, commit: Commit) -> Commit:
        """A commit that was kept before it was known which of the user's words are sensitive."""
        told = [op for op in commit.ops if op.key[0] == "input" and self.covers(op.key)]
        heard = any(key[0] == "input" and self.covers(key) for key in commit.reads)
        changes: dict[str, Any] = {}
        if told:
            as_shown = set(self.shown.values())
            changes["ops"] = tuple(
                Op(op.verb, op.key, veil(op.value, self.mark))
                if op in told and op.value not in as_shown
                else op
                for op in commit.ops
            )
        if heard and commit.asked is not None and commit.asked.kind == "model":
            changes["asked"] = veil_asked(commit.asked, _NONE, self.mark)
        if heard and commit.answered is not None and commit.answered.kind == "model":
            value = veil_talk(commit.answered.value, self.mark)
            changes["answered"] = msgspec.structs.replace(commit.answered, value=value)
        return msgspec.structs.replace(commit, **changes) if changes else commit

    def _wanted(self, commit: Commit) -> Commit:
        """A model that wants calls tells their arguments, before anything is asked of a tool."""
        answered, spots = commit.answered, self.declared.arguments
        if answered is None or answered.kind != "model" or not spots:
            return commit
        for name, arguments in wanted_in(answered.value):
            self._learn_at(arguments, spots.get(name, ()))
        value = veil_wanted(answered.value, spots, self.mark)
        if value is answered.value:
            return commit
        ops = [Op(op.verb, op.key, veil_wanted(op.value, spots, self.mark)) for op in commit.ops]
        answered = msgspec.structs.replace(answered, value=value)
        return msgspec.structs.replace(commit, answered=answered, ops=tuple(ops))

    def _note_words(self, commit: Commit) -> None:
        """A message that is masked as it comes in: what is made of it is sensitive, too."""
        told = [said if isinstance(said, str) else said[0] for said in commit.secrets]
        for op in commit.ops:
            if op.key[0] == "input":
                self._heard[str(op.value).strip()] = op.key
                if op.value in told:
                    self.add(op.key, declared=True)

    def _note_opening(self, commit: Commit) -> None:
        target = commit.facts.get("target") if commit.facts else None
        if target is not None:
            for name in self.declared.variables.get(target, ()):
                self.add((commit.facts["scope"], name), declared=True)
        asked = commit.asked
        if commit.to.startswith("call ") or (asked is not None and asked.kind in _CALLED):
            self._openers[commit.seq] = commit.frame
            if len(self._openers) > 64:
                del self._openers[next(iter(self._openers))]

    def _is_declared(self, commit: Commit) -> bool:
        if commit.kind in ("SAY-GET", "FORM"):
            return commit.answered is not None and any(isinstance(x, str) for x in commit.secrets)
        if (commit.flow, commit.node) not in self.declared.steps:
            return False
        return commit.kind not in ("CALL-TOOL", "AGENT") or commit.answered is not None

    def _is_answer(self, commit: Commit) -> bool:
        """Whether it takes the answer to something that sensitive values were handed to."""
        if commit.answered is None or str(commit.frame) not in self._open:
            return False
        if commit.asked is None:
            del self._open[str(commit.frame)]
            self.grown += 1
            self._openers = {s: f for s, f in self._openers.items() if f != commit.frame}
        return True

    # ------------------------------------------------------------ what a step did

    def _veiled(
        self, commit: Commit, reads: tuple[Key, ...], *, is_declared: bool, is_answer: bool
    ) -> Commit:
        clean = _NONE if is_declared or is_answer else self._clean(commit, reads)
        self._harmless = () if is_declared else self._said_harmless(commit)
        self._note_return(commit)
        changes: dict[str, Any] = {}
        if commit.answered is not None and is_refused(commit.answered):
            self._own = commit.answered.error
        if commit.ops:
            changes["ops"] = tuple(
                [self._op(op, commit, clean, declared=is_declared) for op in commit.ops]
            )
        if commit.decision is not None:
            changes["decision"] = veil_decision(commit.decision, self.covers, self.mark)
        if commit.asked is not None:
            self._ask(commit, clean, changes)
        answered = commit.answered
        if answered is not None and answered.kind != "user":
            self._learn_answer(answered, declared=is_declared)
            hidden = veil_answered(answered, self.mark, self._harmless)
            error = self._sentence(answered.error, commit)
            changes["answered"] = msgspec.structs.replace(hidden, error=error)
        changes["calls"] = tuple([self._call(call) for call in commit.calls])
        if commit.error:
            changes["error"] = self._sentence(commit.error, commit)
        changes["warnings"] = tuple([self._sentence(text, commit) for text in commit.warnings])
        if commit.facts:
            changes["facts"] = self._facts(commit)
        return self._at_spots(msgspec.structs.replace(commit, **changes))

    def _said_harmless(self, commit: Commit) -> tuple[Spot, ...]:
        """Where in what a tool answered to something sensitive its author says that nothing is."""
        answered = commit.answered
        called = answered is not None and answered.kind in ("tool", "settle", "approval")
        return self.declared.harmless.get(answered.name, ()) if answered and called else ()

    def _facts(self, commit: Commit) -> dict[str, Any]:
        facts = veil_facts(commit.facts, self.mark)
        for name in ("failure", "transaction"):
            said = commit.facts.get(name)
            if isinstance(said, Mapping):
                told: dict[str, Any] = {
                    part: self._sentence(str(said[part]), commit)  # pyright: ignore
                    for part in ("message", "hint", "failureReason")
                    if said.get(part)  # pyright: ignore[reportUnknownMemberType]
                }
                facts[name] = {**facts[name], **told}
        return facts

    def _note_return(self, commit: Commit) -> None:
        """Whoever called the frame gets something sensitive back."""
        if commit.to == "return" or commit.phase == "closed":
            opener = self._openers.get(commit.caller)
            if opener is not None and str(opener) not in self._open:
                self._open[str(opener)] = None
                self.grown += 1

    def _clean(self, commit: Commit, reads: tuple[Key, ...]) -> frozenset[str]:
        """The values a step hands on, by name, that nothing sensitive is in."""
        parts = self.declared.parts.get((commit.flow, commit.node))
        clean: set[str] = set(commit.facts.get("defaults") or ())
        for name, paths in (parts or {}).items():
            if any(of_one_value(path, key) for path in paths for key in reads):
                clean.discard(name)
            else:
                clean.add(name)
        return frozenset(clean)

    def _ask(self, commit: Commit, clean: frozenset[str], changes: dict[str, Any]) -> None:
        asked = commit.asked
        assert asked is not None
        if asked.kind in _ANSWERED:
            inside = raw(asked.args)
            given_names = inside if isinstance(inside, Mapping) else ()
            names = [one for one in given_names if one not in clean]
            if not names and clean:
                return
            if asked.kind in _CALLING or str(commit.frame) not in self._open:
                self._open[str(commit.frame)] = names if clean else None
                self.grown += 1
            if asked.kind == "tool":
                self._learn({one: inside[one] for one in names})
        if asked.kind != "user":
            changes["asked"] = veil_asked(asked, clean, self.mark)

    def _op(self, op: Op, commit: Commit, clean: frozenset[str], *, declared: bool) -> Op:
        key = op.key
        if op.verb == "delete" or key[0] == "input" or key[:2] == _KEYPAD:
            return self._op_at_places(op, commit)
        if key[:2] in _SPEECH:
            return self._said(op, commit, declared=declared)
        if key[0] in _BOOKKEEPING:
            return op
        if (len(key) == 2 and key[1] in clean) or is_filled_in(op, commit, self.covers):
            return self._op_at_places(op, commit)
        if is_of_the_run(op, commit):
            return op
        for place in places_but(op.value, self._harmless, key):
            self.add(place, declared=declared)
        if declared:
            self._note_source(commit)
        rest = veil_at(op.value, self._harmless, self.mark)
        self._learn(rest, declared=declared or self._places.is_declared(key))
        return Op(op.verb, key, veil_but(op.value, self._harmless, self.mark))

    def _filled(self, commit: Commit) -> Commit:
        """A form that took several answers: only those that are sensitive are."""
        ops: list[Op] = []
        for op in commit.ops:
            texts = given(op.value) if op.key[0] not in _BOOKKEEPING else ()
            told = op.key[0] != "input" and any(text in commit.secrets for text in texts)
            ops.append(self._op(op, commit, _NONE, declared=True) if told else op)
        return self._at_places(msgspec.structs.replace(commit, ops=tuple(ops)))

    def _said(self, op: Op, commit: Commit, *, declared: bool) -> Op:
        """What the step itself said, where it is not known which part of it is sensitive."""
        own = commit.kind in _OWN_WORDS and not self.afterwards
        if own and (commit.flow, commit.node) not in self.declared.steps:
            return op
        value = raw(op.value)
        stretches = value if op.verb == "set" and isinstance(value, list | tuple) else [value]
        told = [self._stretch(raw(one), commit, declared=declared) for one in stretches]
        return Op(op.verb, op.key, told if stretches is value else told[0])

    def _stretch(self, stretch: Any, commit: Commit, *, declared: bool) -> Any:
        if not isinstance(stretch, list | tuple) or len(stretch) != 2 or stretch[1] != commit.seq:  # pyright: ignore
            return stretch  # pyright: ignore[reportUnknownVariableType]
        text = str(stretch[0])  # pyright: ignore[reportUnknownArgumentType]
        if declared or text not in self.shown:
            self._show(text, self.mark)
            self._learn(text)
        return [self.shown[text], commit.seq]

    def _call(self, call: Any) -> Any:
        self._learn(call.value)
        return veil_call(call, self.mark)

    def _sentence(self, text: str, commit: Commit) -> str:
        """An error or a warning. One of the engine's own puts values in quotes; what a tool or a
        function says may be made of anything, and is not kept at all."""
        answered = commit.answered
        others = answered is not None and answered.kind != "user" and not is_refused(answered)
        foreign = commit.calls or others
        if foreign:
            self._learn(text)
        shown = veil(text, self.mark) if foreign else _QUOTED.sub(f'"{self.mark}"', text)
        if shown != text:
            self._show(text, shown)
        return shown

    def _show(self, text: str, as_shown: str) -> None:
        """From here on a text is shown like this."""
        if self.shown.get(text) != as_shown:
            self.shown[text] = as_shown
            self.grown += 1

    def _learn(self, value: Any, *, declared: bool = False) -> None:
        found = given(value) if declared else distinctive(value)
        own = self._own
        fresh = (text for text in found if self.mark not in text and text not in own)
        if declared:
            self.declared_texts.extend(found)
        self.texts.extend(text for text in fresh if declared or not self._is_harmless(text))

    def _is_harmless(self, text: str) -> bool:
        """Whether it is what the user said in this turn, and on record as it was said: what reads
        it together with something sensitive makes it no secret."""
        key = self._heard.get(text.strip())
        return key is not None and not self.covers(key)

    def _note_source(self, commit: Commit) -> None:
        """The words that a declared value was taken from are as sensitive as it is."""
        for key in commit.reads:
            if key[0] == "input":
                self.add(key, declared=True)

    # ------------------------------------------------------------ what was declared

    def _at_places(self, commit: Commit) -> Commit:
        """A step that read nothing sensitive may still write where something sensitive belongs."""
        ops = tuple([self._op_at_places(op, commit) for op in commit.ops])
        same = all(one is other for one, other in zip(ops, commit.ops, strict=True))
        return self._at_spots(commit if same else msgspec.structs.replace(commit, ops=ops))

    def _op_at_places(self, op: Op, commit: Commit) -> Op:
        spots = self._places.spots(op.key) if op.verb != "delete" else ()
        if not spots:
            return op
        if op.key[0] == "input":
            shown = self.shown.setdefault(str(op.value), self.mark)
            return Op(op.verb, op.key, shown if op.value else op.value)
        is_new = False
        for spot, is_declared in spots:
            found = found_at(op.value, spot)
            is_new = is_new or (is_declared and is_something(found))
            self._learn(found, declared=is_declared)
        if is_new:
            self._note_source(commit)
        hidden = veil_at(op.value, tuple(spot for spot, _ in spots), self.mark)
        return op if hidden is op.value else Op(op.verb, op.key, hidden)

    def _at_spots(self, commit: Commit) -> Commit:
        """What tools declare of their arguments and answers."""
        asked, answered = commit.asked, commit.answered
        changes: dict[str, Any] = {}
        if asked is not None and asked.kind == "tool":
            spots = self.declared.arguments.get(asked.name)
            if spots:
                self._learn_at(asked.args, spots)
                names = [str(spot[0]) for spot in spots if spot]
                known = self._open.get(str(commit.frame), [])
                self._open[str(commit.frame)] = (
                    None if known is None or () in spots else [*known, *names]
                )
                self.grown += 1
                args = veil_at(asked.args, spots, self.mark)
                changes["asked"] = msgspec.structs.replace(asked, args=args)
        if answered is not None and answered.kind in ("tool", "settle", "approval"):
            spots = self.declared.answers.get(answered.name)
            if spots:
                changes |= self._answer_at(commit, spots)
        return msgspec.structs.replace(commit, **changes) if changes else commit

    def _answer_at(self, commit: Commit, spots: tuple[Spot, ...]) -> dict[str, Any]:
        answered = commit.answered
        assert answered is not None
        said = content_of(answered.value, spots)
        if said is not None:
            return self._content_at(commit, said, spots)
        self._learn_at(answered.value, spots)
        value = veil_at(answered.value, spots, self.mark)
        ops: list[Op] = []
        for op in commit.ops:
            if op.verb != "set" or op.key[0] in _BOOKKEEPING or op.key[0] == "input":
                ops.append(op)
                continue
            for spot in spots:
                self.add((*op.key, *spot), declared=True)
            ops.append(Op(op.verb, op.key, veil_at(op.value, spots, self.mark)))
        return {"answered": msgspec.structs.replace(answered, value=value), "ops": tuple(ops)}

    def _learn_answer(self, answered: Answered, *, declared: bool) -> None:
        """What was answered in a step of which all is sensitive."""
        spots = self.declared.answers.get(answered.name, ()) if answered.kind == "tool" else ()
        said = content_of(answered.value, spots) if answered.kind == "tool" else None
        value = answered.value if said is None else said.tree
        self._learn(veil_at(value, self._harmless, self.mark), declared=declared)
        self._learn_at(value, spots)

    def _content_at(self, commit: Commit, said: Content, spots: tuple[Spot, ...]) -> dict[str, Any]:
        """The same where an agent's tool has answered: what it gave is text for the model."""
        answered = commit.answered
        assert answered is not None
        self._learn_at(said.tree, spots)
        hidden = said.shown(spots, self.mark)
        self._show(said.text, hidden)
        ops: list[Op] = []
        for op in commit.ops:
            told = said.replaced(op.value, hidden)
            if told is not op.value and op.key[0] not in _BOOKKEEPING:
                self.add(op.key)  # what is made of it is sensitive, too
            ops.append(op if told is op.value else Op(op.verb, op.key, told))
        value = said.replaced(answered.value, hidden)
        return {"answered": msgspec.structs.replace(answered, value=value), "ops": tuple(ops)}

    def _learn_at(self, value: Any, spots: tuple[Spot, ...]) -> None:
        for spot in spots:
            self._learn(found_at(value, spot), declared=True)
