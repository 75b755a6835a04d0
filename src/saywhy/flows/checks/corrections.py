"""What is wrong with what a flow says of corrections, and with how its effects are undone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from saywhy.errors import Problem, did_you_mean
from saywhy.flows.checks.flow import flow_problem
from saywhy.flows.checks.keys import misspelt_keys
from saywhy.flows.checks.spot import Spot
from saywhy.flows.corrections.settings import KEY, asked_variables, takes_corrections
from saywhy.flows.graph import call_type_of, target_of
from saywhy.flows.languages import is_tag
from saywhy.flows.model import Flow, Library, ToolDefinition
from saywhy.flows.read_flow import kind_of, object_of
from saywhy.flows.source import join
from saywhy.tools.pattern import pattern_problem

SETTINGS: Final = frozenset({"variables", "patterns"})
UNDO_KEYS: Final = frozenset({"tool", "args", "text"})
PATTERN_KEYS: Final = frozenset({"pattern", "variable"})

_GROUP: Final = re.compile(r"\(\?<([A-Za-z_$][\w$]*)>")
_EXAMPLE: Final = 'write "^make it (?<value>.+) for the (?<variable>.+)$"'


# ------------------------------------------------------------------ flows


def check_corrections(flow: Flow, library: Library) -> Iterator[Problem]:
    """Every problem of a flow's `corrections`, in no particular order."""
    written = flow.raw.get(KEY)
    if written is None or written is False:
        return
    if not takes_corrections(flow):
        message = f"`corrections` must be true, false or an object, this is {kind_of(written)}"
        yield flow_problem(flow, message, f"/{KEY}", "write true, or the settings")
        return
    asked = list(dict.fromkeys(_asked(flow, library, frozenset())))
    yield from _impossible(flow, asked)
    if isinstance(written, dict):
        yield from misspelt_keys(flow, f"/{KEY}", written, SETTINGS)
        yield from _variables(flow, written.get("variables"), asked)
        yield from _patterns(flow, written.get("patterns"), asked)
    yield from _names(flow)


def _asked(flow: Flow, library: Library, seen: frozenset[str]) -> Iterator[str]:
    """What a flow, and the flows it calls, ask the user for."""
    yield from asked_variables(flow)
    for step in flow.walk():
        called = library.find(target_of(step)) if step.type == "FLOW" else None
        if called is not None and called.id not in seen:
            yield from _asked(called, library, seen | {flow.id, called.id})


def _impossible(flow: Flow, asked: list[str]) -> Iterator[Problem]:
    """Steps that no correction can go back over."""
    if not asked:
        message = "the flow takes corrections, but asks for nothing that could be corrected"
        hint = "remove `corrections`, or ask with a SAY-GET"
        yield flow_problem(flow, message, f"/{KEY}", hint, "warning")
    for step in flow.walk():
        kind = call_type_of(step, rescue=False) if step.type == "FLOW" else "call"
        if kind != "call":
            message = f"what was answered before this {kind} can no longer be corrected after it"
            hint = "call the flow instead, or let it ask for what may be corrected"
            yield flow_problem(flow, message, step.pointer, hint, "warning")
        if step.type == "FORM":
            message = "no correction goes back over a form; it takes corrections of its own"
            hint = "answers given before it can only be corrected until it is filled in"
            yield flow_problem(flow, message, step.pointer, hint, "note")


def _variables(flow: Flow, written: Any, asked: list[str]) -> Iterator[Problem]:
    if written is None:
        return
    pointer = f"/{KEY}/variables"
    if not isinstance(written, list):
        message = f"`corrections.variables` must be a list of names, this is {kind_of(written)}"
        yield flow_problem(flow, message, pointer, 'write ["amount", "date"]')
        return
    for index, name in enumerate(written):
        yield from _known(flow, name, asked, join(pointer, index))


def _known(flow: Flow, name: Any, asked: list[str], pointer: str) -> Iterator[Problem]:
    if name in asked:
        return
    hint = did_you_mean(str(name), asked) or "name a variable of a SAY-GET"
    message = f'no SAY-GET asks for "{name}", so it cannot be corrected'
    yield flow_problem(flow, message, pointer, hint, known_names=tuple(asked))


def _patterns(flow: Flow, written: Any, asked: list[str]) -> Iterator[Problem]:
    if written is None:
        return
    pointer = f"/{KEY}/patterns"
    if not isinstance(written, dict):
        message = f"`corrections.patterns` must be an object, this is {kind_of(written)}"
        yield flow_problem(flow, message, pointer, 'write {"en": ["…"], "es": ["…"]}')
        return
    for language, items in written.items():
        at = join(pointer, language)
        if not is_tag(language):
            message = f'"{language}" is no language'
            yield flow_problem(flow, message, at, "write en, es or pt-BR")
        if not isinstance(items, list):
            message = f"the patterns of a language must be a list, this is {kind_of(items)}"
            yield flow_problem(flow, message, at, "write [ … ]")
            continue
        for index, item in enumerate(items):
            yield from _pattern(flow, item, asked, join(at, index))


def _pattern(flow: Flow, item: Any, asked: list[str], pointer: str) -> Iterator[Problem]:
    fields = {"pattern": item} if isinstance(item, str) else object_of(item)
    pattern, variable = fields.get("pattern"), fields.get("variable")
    if not isinstance(pattern, str) or not pattern:
        message = f"a pattern must be a text, or an object with `pattern`, this is {kind_of(item)}"
        yield flow_problem(flow, message, pointer, _EXAMPLE)
        return
    if isinstance(item, dict):
        yield from misspelt_keys(flow, pointer, item, PATTERN_KEYS)
    wrong = pattern_problem(pattern)
    if wrong:
        yield flow_problem(flow, wrong, pointer, "check its brackets and backslashes")
        return
    groups = set(_GROUP.findall(pattern))
    if "value" not in groups:
        message = "the pattern has no group `value` for the new answer"
        yield flow_problem(flow, message, pointer, _EXAMPLE)
    if variable is not None:
        yield from _known(flow, variable, asked, pointer)
    elif "variable" not in groups:
        message = "the pattern has no group `variable`, and no `variable` stands beside it"
        hint = 'name it: {"pattern": "…", "variable": "amount"}'
        yield flow_problem(flow, message, pointer, hint)


def _names(flow: Flow) -> Iterator[Problem]:
    """`names` of variables and parameters: what people call them."""
    declared = [(join("/variables", n), o) for n, o in object_of(flow.raw.get("variables")).items()]
    parameters = flow.raw.get("parameters")
    if isinstance(parameters, list):
        declared += [(f"/parameters/{index}", one) for index, one in enumerate(parameters)]
    for pointer, fields in declared:
        for key, value in object_of(fields).items():
            if key != "names" and not key.startswith("names_"):
                continue
            if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
                message = f"`{key}` must be a list of texts, this is {kind_of(value)}"
                yield flow_problem(flow, message, join(pointer, key), 'write ["sum", "amount"]')


# ------------------------------------------------------------------ steps


def check_undo(spot: Spot) -> Iterator[Problem]:
    """Every problem of a step's `undo`, and whether one is missing where it would be needed."""
    if spot.step.type != "CALL-TOOL":
        return
    tool = spot.library.tool(str(spot.get("tool") or ""))
    undo = spot.get("undo")
    if undo is None:
        if takes_corrections(spot.flow) and tool is not None and _acts(tool):
            message = "what this step was given can no longer be corrected once it has run"
            hint = 'declare how it is undone: "undo": {"tool": "…", "args": {…}}'
            yield spot.problem(message, hint=hint, severity="note")
        return
    if not isinstance(undo, dict):
        message = f"`undo` must be an object, this is {kind_of(undo)}"
        yield spot.problem(message, "undo", hint='write {"tool": "refund", "args": {…}}')
        return
    yield from _undo_fields(spot, undo)
    if tool is not None and not _acts(tool):
        message = f'`undo` of a step that only reads: the tool "{tool.id}" changes nothing'
        hint = "remove it; what only reads is simply called again"
        yield spot.problem(message, "undo", hint=hint, severity="warning", at_key=True)


def _undo_fields(spot: Spot, undo: dict[str, Any]) -> Iterator[Problem]:
    pointer = join(spot.step.pointer, "undo")
    prefixes = ("text_",)
    yield from misspelt_keys(
        spot.flow, pointer, undo, UNDO_KEYS, prefixes=prefixes, step=spot.step.id
    )
    args, wanted = undo.get("args"), undo.get("tool")
    if args is not None and not isinstance(args, dict):
        message = f"`undo.args` must be an object, this is {kind_of(args)}"
        yield spot.problem(message, "undo", "args", hint='write {"id": "{{payment.id}}"}')
    if not isinstance(wanted, str) or not wanted:
        yield spot.problem("`undo` has no `tool`", "undo", hint="name the tool that undoes it")
    elif spot.library.tool(wanted) is None:
        known = sorted({item.id for item in spot.library.tools})
        hint = did_you_mean(wanted, known) or "define it in a tool file"
        message = f'no tool has the id "{wanted}", so nothing undoes this step'
        yield spot.problem(message, "undo", "tool", hint=hint, known_names=known)


def _acts(tool: ToolDefinition) -> bool:
    """Whether a tool changes anything, as far as its definition says."""
    return tool.raw.get("effect") != "reads"
