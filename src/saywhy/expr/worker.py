"""Runs expressions in the contexts of one thread.

The path that every evaluation takes is `Worker.evaluate`, written flat: it costs less than the
engine call inside it. Everything that is rare is a function of its own.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Sequence
from typing import Any, Final

from saywhy.expr.answers import answers_json, is_short
from saywhy.expr.brief import FUNCTIONS, MAX_TEXT
from saywhy.expr.changes import changes
from saywhy.expr.direct import direct_of
from saywhy.expr.failures import raised_from, syntax_raised, syntax_refused
from saywhy.expr.handed import Handed, Refused, passed, touched
from saywhy.expr.names import read_expression
from saywhy.expr.numbers import number_text
from saywhy.expr.outcome import Evaluated, FunctionAnswer, Names, Outcome, Raised, Suspended
from saywhy.expr.program import FUNCTION, Parameter, Program, Variant
from saywhy.expr.ready import Ready
from saywhy.expr.sandbox import Limits, Sandbox, engine_errors
from saywhy.expr.transfer import (
    MARK,
    SCALAR,
    TAGGED_TEXT,
    foreign_in,
    tree_from,
    value_from,
    whole,
)
from saywhy.expr.writer import draft_of
from saywhy.values import FrozenDict, FrozenList, seal, thaw

MAX_PROGRAMS: Final = 2048
MAX_COMPILED: Final = 1_000_000
"""Characters of compiled text a context keeps, so that they leave room under its memory limit."""
MAX_SHAPES: Final = 32
MAX_RETRIES: Final = 7

ASKING: Final = f"{MARK}i"
"""Begin of a result that is a question about another language; see asking.js."""
UNEXPECTED: Final = f"{MARK}n"
"""There is a question, but the program was not written so that it can be answered."""
ASKS: Final = (ASKING, UNEXPECTED, f"{MARK}!")
"""With a limit that was hit, which may be for want of an answer."""
NO_GUESSES: Final = "-"
MAX_QUESTIONS: Final = 1_000
MAX_SECONDS: Final = 1.0
"""Processor time of all rounds of an evaluation with questions."""
TOO_MANY: Final = (
    MARK
    + "e"
    + json.dumps(
        ["RangeError", f"more than {MAX_QUESTIONS} texts in other languages in one expression", ""]
    )
)

TEXT: Final = "T"
VALUE: Final = "V"
"""Last letter of the key of a variant: the form of its result."""

_LETTERS: Final = re.compile(r"\D\d*")
_PLAIN: Final = frozenset({float, bool, type(None)})


class Worker:
    """The sandbox of one thread with the programs compiled in it."""

    __slots__ = ("_compiled", "_errors", "_limits", "_programs", "_ready", "_sandbox", "is_slow")

    def __init__(self, limits: Limits) -> None:
        self._limits: Final = limits
        self._errors = engine_errors()
        self._sandbox = Sandbox(limits)
        self._ready = Ready(self._sandbox)
        self._programs: dict[str, Program] = {}
        self._compiled = 0
        self.is_slow = False
        """The last round of an evaluation that called functions took long."""

    def evaluate(
        self,
        source: str,
        names: Names,
        answers: Sequence[FunctionAnswer],
        now_ms: float,
        seed: int,
        as_text: bool,
    ) -> Outcome:
        """One round: to the value, to an error, or to a call that has no answer yet.

        Long because it is flat: a call is a twentieth of what a short expression takes.
        """
        try:
            program = self._programs.get(source) or self._learn(source)
            if program.direct is not None:
                direct = program.direct.evaluated(names, as_text)
                if direct is not None:
                    return direct
            get, functions = names.get, names.functions
            arguments: list[Any] = []
            key, is_long = "", False
            for place, path, root in program.places:
                if functions and root in functions:
                    key += FUNCTION
                    continue
                value: Any = get(path)
                kind = type(value)
                if (
                    (kind is int and -0x8000_0000 <= value <= 0x7FFF_FFFF)
                    or (
                        kind is str
                        and len(value) <= MAX_TEXT
                        and value.isascii()
                        and "\0" not in value
                    )
                    or kind in _PLAIN
                ):
                    key += SCALAR
                    arguments.append(value)
                    continue
                if (kind is FrozenList or kind is FrozenDict) and program.is_lent(functions):
                    letter, value, is_slow = self._lent(place, value, names, arguments)
                else:
                    letter, value, is_slow = passed(place, value, names)
                key += letter
                is_long = is_long or is_slow
                if value is not None or letter[0] == SCALAR:
                    arguments.append(value)
            key += TEXT if as_text else VALUE
            variant = program.variants.get(key) or self._compile(program, key)
        except Refused as refused:
            return refused.outcome
        if variant.has_leading:
            leading = _leading(program, variant, answers, now_ms, seed)
            arguments[:0] = leading
            # What is brief knows no clock and no languages: only answers are led in.
            is_long = is_long or (variant.is_brief and not is_short(leading[0]))
        if (is_long or not variant.is_brief) is not self._sandbox.is_timed:
            self._sandbox.watch_time(not self._sandbox.is_timed)
        try:
            result = variant.function(*arguments)
        except self._errors as error:
            result = self._after_failure(program, key, arguments, str(error))
        kind = type(result)
        if kind is str and result[:1] == MARK:
            if result[:2] in ASKS:
                variant, result = self._told(program, key, arguments, variant, result)
                kind = type(result)
            if kind is str and result[:1] == MARK:
                return self._marked(result, program, variant, names, answers)
        if kind is float:
            result = number_text(result) if as_text else whole(result)
        elif kind is int and as_text:
            result = number_text(result)
        if variant.has_functions:
            return Evaluated(result, variant.reads, variant.exact, (), tuple(answers))
        return Evaluated(result, variant.reads, variant.exact)

    def _lent(self, parameter: Parameter, value: Any, names: Names, others: list[Any]) -> Handed:
        """How to pass a list or object to an expression that changes nothing: one that is ready."""
        found = self._ready.argument(value)
        # Two lists that are alike are not one: a single thing handed in twice would be.
        if found[0] == SCALAR and others and found[1] in others:
            return passed(parameter, value, names)
        return found

    # ---------------------------------------------------------------- programs

    def _learn(self, source: str) -> Program:
        reading = read_expression(source)
        if reading.error is not None:
            raise Refused(syntax_refused(reading.error))
        if len(self._programs) >= MAX_PROGRAMS:
            self._forget()
        program = self._programs[source] = Program(source, reading)
        program.direct = direct_of(program)
        return program

    def _forget(self) -> None:
        self._programs = {}
        self._compiled = 0

    def _restart(self, arguments: list[Any] | None = None) -> None:
        """A new context. After a limit was hit, nobody can say what state the old one is in.

        `arguments` are those of an evaluation that is to be tried again there.
        """
        self._forget()
        before = self._ready
        self._sandbox = Sandbox(self._limits)
        self._ready = Ready(self._sandbox)
        if arguments:
            self._ready.renew(arguments, before)

    def _compile(self, program: Program, key: str) -> Variant:
        *shape, form = _LETTERS.findall(key)
        pairs = zip(program.parameters, shape, strict=True)
        functions = tuple(parameter.root for parameter, letter in pairs if letter == FUNCTION)
        draft = draft_of(program, tuple(shape), functions, form == TEXT)
        if self._compiled > MAX_COMPILED:
            self._forget()
        self._compiled += len(draft.text)
        try:
            function = self._sandbox.compile(draft.text)
        except self._errors as error:
            raise Refused(syntax_raised(str(error), program, draft)) from None
        variant = Variant(
            function,
            draft.reads,
            program.reading.exact,
            draft.written,
            bool(functions),
            program.clocked or program.speaks or bool(functions),
            self._is_brief(program, shape, functions),
            draft.inserted,
        )
        if len(program.variants) >= MAX_SHAPES:
            program.variants.clear()
        program.variants[key] = variant
        return variant

    def _is_brief(self, program: Program, shape: Sequence[str], functions: Sequence[str]) -> bool:
        """Whether the time limit can be left out, where arguments and answers are short."""
        return (
            program.reading.details.is_brief
            and not (program.speaks or program.clocked)
            and all(name in functions or name in FUNCTIONS for name in program.reading.calls)
            and not any(letter[0] == TAGGED_TEXT for letter in shape)
        )

    # --------------------------------------------------------- other languages

    def _told(
        self, program: Program, key: str, arguments: list[Any], variant: Variant, result: Any
    ) -> tuple[Variant, Any]:
        """The result after all that the expression asks about other languages was answered."""
        if result[:2] != ASKING and not self._is_begun_anew(program, arguments, result):
            return variant, result
        from saywhy.expr.locales.answer import answers_to

        until, told = self._spent() + self._patience(), 0
        answers: list[list[str]] = []
        while True:
            if result[:2] == ASKING:
                more = answers_to(result[2:])
                told += len(more)
                answers = [*answers, *more] if program.reading.details.is_async else more
                arguments[0] = json.dumps(answers)
            if program.reading.details.is_async:
                self._restart(arguments)  # what is left to do of this round would run into the next
            variant = program.variants.get(key) or self._compile(program, key)
            try:
                result = variant.function(*arguments)
            except self._errors as error:
                result = self._after_failure(program, key, arguments, str(error))
                if self._is_begun_anew(program, arguments, result):
                    continue
            if type(result) is not str or result[:2] != ASKING:
                return variant, result
            if told >= MAX_QUESTIONS:
                return variant, TOO_MANY
            if self._spent() > until:
                return variant, f"{MARK}!interrupted"

    def _is_begun_anew(self, program: Program, arguments: list[Any], result: Any) -> bool:
        """Whether the evaluation goes back to its start: to ask at all, or to guess no answers.

        With made-up answers a loop may have no end that has one with the right ones.
        """
        if result == UNEXPECTED:
            program.speaks = True
            program.variants.clear()
            arguments.insert(0, "")
            return True
        if not program.speaks or not program.guesses:
            return False
        program.guesses = False
        program.variants.clear()
        arguments[0] = NO_GUESSES
        return True

    def _spent(self) -> float:
        """Seconds that count for an evaluation with questions."""
        return time.thread_time()

    def _patience(self) -> float:
        """How many of them it may take: each round has a limit of its own."""
        return MAX_SECONDS

    # --------------------------------------------------------------- failures

    def _after_failure(
        self,
        program: Program,
        key: str,
        arguments: list[Any],
        message: str,
    ) -> Any:
        """A limit was hit; the time limit may only have been other threads' work.

        The binding counts the processor time of the whole process. With other threads around, the
        evaluation is tried again with more, until this thread alone has used what it may.
        """
        self._restart(arguments)
        attempts = MAX_RETRIES if threading.active_count() > 1 and "interrupted" in message else 0
        for attempt in range(attempts):
            self._sandbox.context.set_time_limit(self._limits.seconds * 2 ** (attempt + 1))
            again = self._compile(program, key)
            started = time.thread_time()
            try:
                result = again.function(*arguments)
            except self._errors as error:
                message = str(error)
                self._restart(arguments)
                if time.thread_time() - started > self._limits.seconds * 0.8:
                    break
            else:
                self._sandbox.context.set_time_limit(self._limits.seconds)
                return result
        program.variants.clear()
        return f"{MARK}!{message}"

    def _marked(
        self,
        result: str,
        program: Program,
        variant: Variant,
        names: Names,
        answers: Sequence[FunctionAnswer],
    ) -> Outcome:
        """The outcome behind a result that is not simply a value."""
        if program.reading.details.is_async:
            self._restart()  # what an async function left to do would run into later evaluations
        mode = result[1]
        if mode == "s":
            name, index, json = result[3:].split(":", 2)
            args = tree_from(result[2], json)
            return Suspended(name, args if result[2] == "j" else thaw(args), int(index))
        if mode in "e!":
            outcome = raised_from(result, program, variant, answers)
            if outcome.kind == "MemoryLimit" and mode == "e":
                self._restart()
            return outcome
        if mode == "w":
            return _with_changes(result, program, variant, names, answers)
        value = value_from(result)
        foreign = foreign_in(value) if mode == "f" else None
        return Evaluated(
            value,
            variant.reads,
            program.reading.exact,
            calls=tuple(answers) if variant.has_functions else (),
            foreign=foreign[1].kind if foreign else "",
        )


def _leading(
    program: Program, variant: Variant, answers: Sequence[FunctionAnswer], now_ms: float, seed: int
) -> list[Any]:
    """The arguments before those that the expression reads."""
    first: list[Any] = []
    if program.speaks:
        first.append("" if program.guesses else NO_GUESSES)
    if variant.has_functions:
        first.append(answers_json(answers))
    if program.clocked:
        first += (float(now_ms), float(seed & 0xFFFF_FFFF))
    return first


def _with_changes(
    result: str,
    program: Program,
    variant: Variant,
    names: Names,
    answers: Sequence[FunctionAnswer],
) -> Outcome:
    """The outcome of an expression that called functions or may have changed variables."""
    asked, (value, *roots) = tree_from(result[2], result[3:])
    calls = tuple(answers[:asked])
    found: list[Any] = []
    for number, after in zip(variant.written, roots, strict=True):
        parameter = program.parameters[number]
        before = (
            touched(parameter, names.get(parameter.path))
            if parameter.inside
            else names.get(parameter.path)
        )
        found += changes(parameter.path, before, after)
    for change in found:
        foreign = foreign_in(change.value, change.path)
        if foreign is not None:
            where = ".".join(map(str, foreign[0]))
            message = f'"{where}" cannot hold a {foreign[1].kind}: a conversation keeps only data'
            return Raised("TypeError", message, variant.reads, calls)
    foreign = foreign_in(value) if result[2] == "f" else None
    return Evaluated(
        seal(value),
        variant.reads,
        program.reading.exact,
        tuple(found),
        calls,
        foreign[1].kind if foreign else "",
    )
