"""Do the names that flows use exist: variables, approved functions, keys of `cargo`?

Judged by what can be set by the time a step runs (`reach`). What nobody handed over is not judged:
without a list of functions, missing ones are one note; in a helper flow that nobody here calls,
unknown variables are one note too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Final, NamedTuple

from saywhy.errors import Problem, did_you_mean
from saywhy.expr.names import JAVASCRIPT_GLOBALS, RESERVED_GLOBALS, Reading, read_expression
from saywhy.expr.template import path_of
from saywhy.flows.checks.code import Code, Text, codes_of, free_names, texts_of
from saywhy.flows.checks.reach import CALLER, WRITERS, Reaches
from saywhy.flows.checks.spot import Known, Spot
from saywhy.flows.checks.tools import local_function
from saywhy.flows.model import Flow, Library
from saywhy.flows.read_flow import list_of, object_of, text_of
from saywhy.flows.runtime_names import RUNTIME_NAMES
from saywhy.flows.source import join

ENGINE_CARGO: Final = frozenset({"voice", "digits"})
"""Keys of `cargo` that host and engine exchange by themselves."""

_WORD: Final = re.compile(r"[A-Za-z_$][\w$]*")


class Use(NamedTuple):
    """One name that a step reads."""

    spot: Spot
    path: tuple[str | int, ...]
    text: str
    span: tuple[int, int]
    name: str
    in_key: bool = False
    whole: bool = False
    """Whether the name is all there is: `"hello"`, which was perhaps meant as a text."""


@dataclass
class NameCheck:
    """Collects what concerns a whole library while its steps are looked at one by one."""

    library: Library
    known: Known
    reaches: Reaches
    missing_functions: dict[str, Problem] = field(default_factory=dict[str, Problem])
    from_host: dict[str, Problem] = field(default_factory=dict[str, Problem])
    from_elsewhere: dict[tuple[str, str], list[Use]] = field(
        default_factory=dict[tuple[str, str], list[Use]]
    )

    def step(self, spot: Spot) -> Iterator[Problem]:
        """Every problem with the names in one step; the rest comes from `summary`."""
        yield from self._reserved(spot)
        self._validator(spot)
        for text in texts_of(spot.step):
            for code in codes_of(text):
                yield from self._code(spot, text, code)
        for use in _plain_uses(spot):
            yield from self._unknown(use)

    def summary(self) -> Iterator[Problem]:
        """What is said once for all steps."""
        if self.known.functions is None:
            for tool in self.library.tools:
                function = local_function(tool)
                if function:
                    place = tool.place_of("/implementation/function")
                    self.missing_functions.setdefault(function, Problem("", place))
        yield from _one_note(
            self.missing_functions,
            "the host must hand over the functions",
            "nobody said which functions there are; name them to the check (--functions)",
        )
        yield from _one_note(
            self.from_host,
            "conditions ask whether these names exist, but no flow sets them:",
            "they were taken for global variables of the host; name those to the check (--globals)",
        )
        for (_, source), uses in self.from_elsewhere.items():
            names = ", ".join(dict.fromkeys(use.name for use in uses))
            message = f"only {source} can set {names}"
            if source == CALLER and self.reaches.is_called(uses[0].spot.flow):
                message = f"only callers of flows that nobody here calls can set {names}"
            elif source == CALLER:
                message = f"no flow here calls this one; only its caller can set {names}"
            hint = "check it together with the files it belongs to"
            yield uses[0].spot.problem(message, hint=hint, severity="note")

    # ------------------------------------------------------------------ names in code

    def _code(self, spot: Spot, text: Text, code: Code) -> Iterator[Problem]:
        if code.language == "path":
            path = path_of(code.source)
            if path:
                yield from self._unknown(_use(spot, text, code, str(path[0]), 0))
            return
        reading = read_expression(code.source)
        if reading.error:
            return
        yield from self._cargo(spot, text, code, reading)
        asked = set(re.findall(r"\btypeof\s*\(?\s*([\w$]+)", code.source))
        for name, at in _first_uses(reading):
            if name in asked:
                continue
            use = _use(spot, text, code, name, at)
            if self._is_known(use):
                continue
            if name in reading.calls:
                yield from self._function(use)
            else:
                yield from self._unknown(use)

    def _is_known(self, use: Use) -> bool:
        name = use.name
        return (
            name in JAVASCRIPT_GLOBALS
            or name in RUNTIME_NAMES
            or name in (self.known.functions or ())
            or name in (self.known.globals or ())
            or (use.spot.step.type == "FORM" and name == use.spot.get("variable"))
            or (use.path[0] == "undo" and name == use.spot.get("variable"))
            or self.reaches.knows(use.spot.flow, use.spot.step.pointer, name)
        )

    def _function(self, use: Use) -> Iterator[Problem]:
        if self.known.functions is None:
            self.missing_functions.setdefault(
                use.name, use.spot.text_problem("", use.path, use.text, use.span, in_key=use.in_key)
            )
            return
        known = sorted(self.known.functions)
        hint = did_you_mean(use.name, known) or "hand it over as an approved function"
        yield use.spot.text_problem(
            f'no approved function is called "{use.name}"',
            use.path,
            use.text,
            use.span,
            hint=hint,
            known_names=known,
            in_key=use.in_key,
        )

    def _unknown(self, use: Use) -> Iterator[Problem]:
        if self._is_known(use):
            return
        flow, pointer = use.spot.flow, use.spot.step.pointer
        source = self.reaches.open_before(flow, pointer)
        if source:
            self.from_elsewhere.setdefault((use.spot.flow.id, source), []).append(use)
            return
        if self._comes_from_host(use):
            self.from_host.setdefault(
                use.name, use.spot.text_problem("", use.path, use.text, use.span, in_key=use.in_key)
            )
            return
        reachable = self.reaches.names_before(flow, pointer)
        known = sorted(reachable | (self.known.globals or frozenset()))
        yield use.spot.text_problem(
            f'no variable named "{use.name}" can be set by this point',
            use.path,
            use.text,
            use.span,
            hint=self._hint(use, known),
            known_names=known,
            in_key=use.in_key,
        )

    def _hint(self, use: Use, known: Sequence[str]) -> str:
        if use.whole and use.spot.step.type in ("SET", "RETURN"):
            return f"if the text is meant, give it quotes of its own: \"'{use.name}'\""
        functions = self.known.functions or ()
        own = [text_of(use.spot.get("variable"))] if use.path[0] == "inputValidation" else []
        close = did_you_mean(use.name, [*known, *own, *RUNTIME_NAMES, *functions])
        if close:
            return close
        for flow in self.library.flows:
            for step in flow.walk():
                if step.type in WRITERS and step.raw.get("variable") == use.name:
                    there = "further down" if flow is use.spot.flow else f"only in flow {flow.id}"
                    return f"it is set {there}, at {step.place}"
        if self.known.globals is None:
            return "if the host hands it over as a global, name it to the check (--globals)"
        return "set it in an earlier step, or declare it in `variables`"

    def _comes_from_host(self, use: Use) -> bool:
        """Whether a name that no flow sets may be a global variable that nobody told us about.

        Only where a condition asks whether it exists, and where it is no slip of a known name:
        a condition that cannot be evaluated counts as false, so asking is how flows cope with it.
        """
        if self.known.globals is not None:
            return False
        everywhere = self.reaches.anywhere()
        if use.name in everywhere or get_close_matches(use.name, everywhere, n=1, cutoff=0.8):
            return False
        return use.name in self._asked_for

    @cached_property
    def _asked_for(self) -> frozenset[str]:
        return frozenset(
            name
            for flow in self.library.flows
            for step in flow.walk()
            for text in texts_of(step)
            if text.language == "condition"
            for code in codes_of(text)
            for name in re.findall(
                r"(?:^|[(!]|&&|\|\|)\s*([\w$]+)\s*(?=$|[)?]|&&|\|\|)", code.source
            )
        )

    # ------------------------------------------------------------------ cargo and reserved names

    def _cargo(self, spot: Spot, text: Text, code: Code, reading: Reading) -> Iterator[Problem]:
        """A key nobody has may still be set by a function: only slips are worth a word."""
        if self.known.cargo is None:
            return
        known = self.known.cargo | self._cargo_written | ENGINE_CARGO
        for path in sorted(reading.reads, key=str):
            if len(path) < 2 or path[0] != "cargo" or path[1] in known:
                continue
            key = str(path[1])
            close = get_close_matches(key, sorted(known), n=1, cutoff=0.8)
            if close:
                at = code.source.find(key)
                yield spot.text_problem(
                    f"nothing sets cargo.{key}",
                    text.path,
                    text.text,
                    code.span(at, at + len(key)),
                    hint=f'did you mean "cargo.{close[0]}"?',
                    severity="warning",
                    in_key=text.in_key,
                )

    @cached_property
    def _cargo_written(self) -> frozenset[str]:
        return frozenset(
            str(path[1])
            for flow in self.library.flows
            for step in flow.walk()
            for text in texts_of(step)
            for code in codes_of(text)
            if code.language != "path"
            for path in read_expression(code.source).writes
            if len(path) > 1 and path[0] == "cargo"
        )

    def _validator(self, spot: Spot) -> None:
        """Remember a validator nobody could check; `checks.repair` judges it by known functions."""
        places: list[tuple[Any, tuple[str | int, ...]]] = [(spot.step.raw, ())]
        if spot.step.type == "FORM":
            inputs = enumerate(list_of(spot.get("inputs")))
            places = [(object_of(entry), ("inputs", index)) for index, entry in inputs]
        for owner, path in places:
            name = object_of(owner.get("inputValidation")).get("customValidator")
            if isinstance(name, str) and self.known.functions is None:
                at = (*path, "inputValidation", "customValidator")
                self.missing_functions.setdefault(name, spot.problem("", *at))

    def _reserved(self, spot: Spot) -> Iterator[Problem]:
        variable = spot.get("variable")
        if spot.step.type in WRITERS and isinstance(variable, str):
            message, hint = _reserved_word(variable, self.known)
            if message:
                yield spot.problem(message, "variable", hint=hint, severity="warning")

    def declared(self, flow: Flow) -> Iterator[Problem]:
        """Declared variables and parameters that expressions can never see."""
        named = [(name, join("/variables", name)) for name in flow.variables]
        named += [
            (parameter.get("name"), f"/parameters/{index}/name")
            for index, parameter in enumerate(map(object_of, list_of(flow.raw.get("parameters"))))
        ]
        for name, pointer in named:
            message, hint = _reserved_word(name, self.known)
            if message:
                yield Problem(message, flow.place_of(pointer), hint, "warning", flow=flow.id)


def _reserved_word(name: object, known: Known) -> tuple[str, str]:
    if not isinstance(name, str):
        return "", ""
    if name.isidentifier() and name not in read_expression(name).roots:
        return (
            f'"{name}" is a word of the expression language',
            "expressions cannot read it; rename it",
        )
    if name in RUNTIME_NAMES or name in RESERVED_GLOBALS:
        return (
            f'"{name}" has a meaning of its own in expressions',
            "the variable can never be read there; rename it",
        )
    if name in (known.functions or ()):
        return (
            f'"{name}" is the name of an approved function',
            "expressions see the function, not the variable; rename it",
        )
    return "", ""


def _plain_uses(spot: Spot) -> Iterator[Use]:
    """Names that stand as such: what a SWITCH looks at, what `inputValidation` checks."""
    variable = spot.get("variable")
    if spot.step.type == "SWITCH" and isinstance(variable, str) and _WORD.fullmatch(variable):
        yield Use(spot, ("variable",), variable, (0, len(variable)), variable)
    patterns = list_of(object_of(spot.get("inputValidation")).get("patterns"))
    for index, entry in enumerate(patterns):
        name = object_of(entry).get("field")
        if isinstance(name, str) and name and name != spot.get("variable"):
            path = ("inputValidation", "patterns", index, "field")
            yield Use(spot, path, name, (0, len(name)), name)


def _use(spot: Spot, text: Text, code: Code, name: str, at: int) -> Use:
    span = code.span(at, at + len(name))
    whole = code.source.strip() == name and "{{" not in text.text
    return Use(spot, text.path, text.text, span, name, text.in_key, whole)


def _first_uses(reading: Reading) -> list[tuple[str, int]]:
    """The free names of an expression in the order of the text, and where each stands first."""
    first: dict[str, int] = {}
    for use in free_names(reading):
        # a bare assignment has a warning of its own, from `checks.texts`
        if not use.is_assigned:
            first.setdefault(use.name, use.start)
    return sorted(first.items(), key=lambda item: item[1])


def _one_note(found: dict[str, Problem], message: str, hint: str) -> Iterator[Problem]:
    if found:
        first = next(iter(found.values()))
        names = ", ".join(sorted(found))
        yield Problem(
            f"{message} {names}", first.place, hint, "note", flow=first.flow, step=first.step
        )
