"""What is wrong with the keys of a step: one small check for each step type, in a table.

What stands in the texts of a step is judged elsewhere: syntax in `checks.texts`, names in
`checks.names`; retries, `inputValidation` and `onFail`, which every type may have, in
`checks.repair`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from typing import Any, Final

from saywhy.errors import Problem, did_you_mean
from saywhy.flows.checks.agents import check_agent
from saywhy.flows.checks.arguments import check_arguments
from saywhy.flows.checks.forms import check_form, check_form_names
from saywhy.flows.checks.keypads import check_digits
from saywhy.flows.checks.keys import (
    ALL_STEP_KEYS,
    COMMON_KEYS,
    STEP_KEYS,
    misspelt_keys,
    nearest_key,
)
from saywhy.flows.checks.spot import Spot
from saywhy.flows.checks.switches import check_switches
from saywhy.flows.graph import CALL_TYPES, target_of
from saywhy.flows.model import Flow
from saywhy.flows.read_flow import kind_of, list_of, object_of

STEP_TYPES: Final = tuple(STEP_KEYS)
DISPATCH_KEYS: Final = frozenset({"id", "type", "outcome", "reason"})

_NAME: Final = re.compile(r"[^\W\d][\w$]*\Z|[_$][\w$]*\Z")
_FLAGS: Final = ("requireTrue", "keepSay", "initializeDefaults", "discardSay")


def check_step(spot: Spot) -> Iterator[Problem]:
    """Every problem of a step's keys."""
    step = spot.step
    if not step.id:
        hint = 'add "id": "ask_amount"; records and error messages call the step by it'
        yield spot.problem("the step has no `id`", hint=hint, severity="warning")
    yield from _type(spot)
    own = _CHECKS.get(step.type)
    if own is None:
        return
    known = STEP_KEYS[step.type] | COMMON_KEYS
    yield from misspelt_keys(
        spot.flow, step.pointer, step.raw, known, ALL_STEP_KEYS, _prefixes(step.type), step.id
    )
    yield from own(spot)
    yield from _common(spot)


def _prefixes(kind: str) -> tuple[str, ...]:
    return ("review_", "confirm_", "retry_") if kind == "FORM" else ("value_",)


def _type(spot: Spot) -> Iterator[Problem]:
    written = spot.get("type")
    if written is None:
        where = "the `onFail` step" if "/onFail" in spot.step.pointer else "the step"
        hint = f"use one of {', '.join(STEP_TYPES)}"
        yield spot.problem(f"{where} has no `type`", hint=hint)
    elif spot.step.type not in _CHECKS:
        near = str(written).upper().replace("_", "-").strip()
        hint = did_you_mean(near, STEP_TYPES) or f"use one of {', '.join(STEP_TYPES)}"
        yield spot.problem(f'unknown step type "{written}"', "type", hint=hint)


# ------------------------------------------------------------------ common keys


def _common(spot: Spot) -> Iterator[Problem]:
    for key in ("outcome", "reason"):
        if spot.has(key) and not isinstance(spot.get(key), str):
            message = f"`{key}` must be a text, this is {kind_of(spot.get(key))}"
            yield spot.problem(message, key, hint="put it in quotes")
    for key in _FLAGS:
        if spot.has(key) and not isinstance(spot.get(key), bool):
            message = f"`{key}` must be true or false, this is {kind_of(spot.get(key))}"
            yield spot.problem(message, key, hint="write true or false without quotes")
    yield from _misplaced(spot)
    yield from _call_type(spot)


def _misplaced(spot: Spot) -> Iterator[Problem]:
    """Keys that mean something, but not on this type of step."""
    kind = spot.step.type
    if kind in ("SAY", "FLOW") and spot.has("tool"):
        message = f"`tool` means nothing on a {kind} step"
        yield spot.problem(message, "tool", hint="call a tool with CALL-TOOL", at_key=True)
    if kind == "SAY" and spot.has("variable"):
        message = "SAY does not wait for an answer, so `variable` is never set"
        hint = "use SAY-GET to ask, or remove `variable`"
        yield spot.problem(message, "variable", hint=hint, severity="note", at_key=True)
    homes = {"requireTrue": "SET", "keepSay": "RETURN", "digits": "SAY-GET"}
    homes |= {"agent": "AGENT", "say": "AGENT", "history": "AGENT"}
    homes |= {"asSpoken": "SAY-GET", "args": "CALL-TOOL", "branches": "CASE or SWITCH"}
    homes |= dict.fromkeys(("inputs", "submit", "onDecline", "onYield"), "FORM")
    homes |= {"onUnknown": "CALL-TOOL", "undo": "CALL-TOOL", "timeout": "SAY-GET"}
    for key, home in homes.items():
        if spot.has(key) and kind not in home.split(" or ") and kind not in ("DISPATCH", "FORM"):
            message = f"`{key}` means nothing on a {kind} step"
            hint = f"it belongs on {home}"
            yield spot.problem(message, key, hint=hint, severity="warning", at_key=True)


def _call_type(spot: Spot) -> Iterator[Problem]:
    written = spot.get("callType")
    if written is None or spot.step.type == "DISPATCH":
        return
    if spot.step.type != "FLOW" and not spot.rescue:
        message = f"`callType` means nothing on a {spot.step.type} step"
        hint = "only FLOW steps and the steps of `onFail` and `onUnknown` have it"
        yield spot.problem(message, "callType", hint=hint, at_key=True)
    elif written not in CALL_TYPES:
        hint = did_you_mean(str(written), CALL_TYPES) or "use call, replace or reboot"
        yield spot.problem(f'unknown callType "{written}"', "callType", hint=hint)


# ------------------------------------------------------------------ one check a type


def _say_get(spot: Spot) -> Iterator[Problem]:
    yield from _spoken(spot)
    if spot.get("value") == "":
        hint = "a question without words stops the conversation with an error"
        yield spot.problem("the question is empty", "value", hint=hint)
    yield from _variable(spot, "so the answer is lost")
    yield from check_digits(spot, spot.get("digits"), "digits")
    yield from check_switches(spot, spot.step.raw)


def _spoken(spot: Spot) -> Iterator[Problem]:
    for key, value in spot.step.raw.items():
        if key.startswith("value_") and not isinstance(value, str):
            message = f"`{key}` must be a text, this is {kind_of(value)}"
            yield spot.problem(message, key, hint="put it in quotes")
    value = spot.get("value")
    if value is None:
        hint = 'write what to say: "value": "Hello"'
        yield spot.problem(f"{spot.step.type} has no `value`", hint=hint)
    elif not isinstance(value, str):
        message = f"`value` must be a text, this is {kind_of(value)}"
        yield spot.problem(message, "value", hint="put it in quotes")


def _form(spot: Spot) -> Iterator[Problem]:
    yield from _variable(spot, "so nobody can read what it collects")
    yield from check_form(spot)
    yield from check_form_names(spot)


def _set(spot: Spot) -> Iterator[Problem]:
    yield from _variable(spot, "so nothing is set")
    if not spot.has("value"):
        hint = "write an expression; a plain text needs inner quotes: \"'hello'\""
        if "value" in spot.step.raw:
            hint = 'write "null" in quotes if the variable is to be null'
        yield spot.problem("SET has no `value`", hint=hint)


def _variable(spot: Spot, consequence: str) -> Iterator[Problem]:
    variable = spot.get("variable")
    if variable is None or variable == "":
        hint = 'name it: "variable": "amount"'
        yield spot.problem(f"{spot.step.type} has no `variable`, {consequence}", hint=hint)
    else:
        yield from _flat_name(spot, variable)


def _flat_name(spot: Spot, variable: Any) -> Iterator[Problem]:
    if not isinstance(variable, str):
        message = f"`variable` must be a name, this is {kind_of(variable)}"
        yield spot.problem(message, "variable", hint="put the name in quotes")
    elif "{{" in variable:
        hint = "a variable has a fixed name; `cargo` can hold keys made up while running"
        yield spot.problem("`variable` must be a plain name, not a template", "variable", hint=hint)
    elif not _NAME.match(variable):
        hint = "use letters, digits and _, not beginning with a digit"
        if spot.step.type == "SET" and "." in variable:
            root = variable.partition(".")[0]
            hint = f"to change something inside {root}, write an expression: {variable} = …"
        message = f'`variable` must be a plain name, "{variable}" is none'
        yield spot.problem(message, "variable", hint=hint)


def _call_tool(spot: Spot) -> Iterator[Problem]:
    if spot.has("variable"):
        yield from _flat_name(spot, spot.get("variable"))
    args = spot.get("args")
    if args is not None and not isinstance(args, dict):
        message = f"`args` must be an object, this is {kind_of(args)}"
        yield spot.problem(message, "args", hint='write {"amount": "{{amount}}"}')
    wanted = spot.get("tool")
    if not isinstance(wanted, str) or not wanted:
        yield spot.problem("CALL-TOOL has no `tool`", hint="name the tool to call by its id")
        return
    tool = spot.library.tool(wanted)
    if tool is None:
        known = sorted({item.id for item in spot.library.tools})
        hint = did_you_mean(wanted, known) or (
            "define it in a tool file, and name that file as well"
            if known
            else "no tools were given; name the file that defines them as well"
        )
        yield spot.problem(f'no tool has the id "{wanted}"', "tool", hint=hint, known_names=known)
    elif isinstance(args, dict) and args:
        yield from check_arguments(spot, args, tool)


def _flow(spot: Spot) -> Iterator[Problem]:
    parameters = spot.get("parameters")
    if parameters is not None and not isinstance(parameters, dict):
        message = f"`parameters` must be an object, this is {kind_of(parameters)}"
        yield spot.problem(message, "parameters", hint='write {"amount": "{{amount}}"}')
    target = target_of(spot.step)
    key = "value" if spot.has("value") else "name"
    if not target:
        yield spot.problem("FLOW has no `value`", hint="name the flow to go to by its id")
        return
    if "{{" not in target and spot.library.find(target) is None:
        near = spot.library.find_ignoring_case(target)
        known = sorted({name for flow in spot.library.flows for name in (flow.id, flow.name)})
        hint = f'did you mean "{near.id}"?' if near else did_you_mean(target, known)
        hint = hint or "is the file that defines it missing from the list?"
        yield spot.problem(f'no flow has the id or name "{target}"', key, hint=hint)
    yield from _flow_options(spot)
    yield from _flow_parameters(spot, spot.library.find(target))


def _flow_parameters(spot: Spot, target: Flow | None) -> Iterator[Problem]:
    """A name that is passed and looks like a misspelt parameter. Any other name is a variable."""
    passed = object_of(spot.get("parameters"))
    declared = [one.name for one in target.parameters] if target else []
    free = [name for name in declared if name not in passed]
    for name in passed:
        if name not in declared and (near := nearest_key(name, free)):
            message = f'the flow "{target.id if target else ""}" has no parameter "{name}"'
            hint = f'did you mean "{near}"?'
            yield spot.problem(
                message, "parameters", name, hint=hint, severity="warning", at_key=True
            )  # fmt: skip


def _flow_options(spot: Spot) -> Iterator[Problem]:
    written = spot.get("callType") or ("replace" if spot.rescue else "call")
    for key, wanted in (("initializeDefaults", "replace"), ("discardSay", "reboot")):
        if spot.get(key) is True and written != wanted:
            message = f'`{key}` has an effect only with callType "{wanted}", this is "{written}"'
            hint = "remove it or change `callType`"
            yield spot.problem(message, key, hint=hint, severity="warning", at_key=True)


def _case(spot: Spot) -> Iterator[Problem]:
    branches = spot.get("branches")
    if not (yield from _branches(spot)):
        return
    conditions = 0
    for key in branches:
        if key.startswith("condition:"):
            conditions += 1
            if not key.removeprefix("condition:").strip():
                hint = 'write "condition: amount > 5"'
                yield spot.problem("a condition is empty", "branches", key, hint=hint, at_key=True)
        elif key != "default":
            hint = _branch_meant(key)
            message = f'a branch of CASE is "condition: …" or "default", not "{key}"'
            yield spot.problem(message, "branches", key, hint=hint, at_key=True)
    if not conditions:
        hint = 'add a branch "condition: …"'
        yield spot.problem("CASE has no condition", "branches", hint=hint)
    yield from _default_branch(spot, "when no condition holds")


def _branch_meant(key: str) -> str:
    """What to write instead of a branch of CASE that is neither a condition nor the default."""
    if nearest_key(key, ["default"]):
        return 'did you mean "default"?'
    word, colon, condition = key.partition(":")
    if colon and nearest_key(word, ["condition"]):
        return f'did you mean "condition:{condition}"?'
    return f'write "condition: {key}"; the last branch may be "default"'


def _switch(spot: Spot) -> Iterator[Problem]:
    variable = spot.get("variable")
    if variable is None or variable == "":
        hint = 'name the variable to look at: "variable": "answer"'
        yield spot.problem("SWITCH has no `variable`", hint=hint)
    else:
        yield from _flat_name(spot, variable)
    if not (yield from _branches(spot)):
        return
    for key in spot.get("branches"):
        if key.startswith("condition:"):
            hint = "SWITCH compares texts; use CASE for conditions"
            message = f'SWITCH knows no conditions, "{key}" would be compared as text'
            yield spot.problem(message, "branches", key, hint=hint, at_key=True)
        elif "{{" in key:
            hint = "branches are compared as written; use CASE for values made up while running"
            message = f'a branch of SWITCH is no template, "{key}" is compared as written'
            yield spot.problem(
                message, "branches", key, hint=hint, severity="warning", at_key=True
            )  # fmt: skip
    yield from _default_branch(spot, "when no branch matches")


def _branches(spot: Spot) -> Generator[Problem, None, bool]:
    """Whether there are branches to look at."""
    branches = spot.get("branches")
    if not isinstance(branches, dict) or not branches:
        hint = 'write "branches": {"default": {…}}'
        yield spot.problem(f"{spot.step.type} has no `branches`", "branches", hint=hint)
        return False
    order: Any = spot.get("_branchOrder")
    for index, key in enumerate(list_of(order)):
        if not isinstance(key, str) or key not in branches:
            message = f"`_branchOrder` names {key!r}, but there is no such branch"
            hint = "remove `_branchOrder`, or make it list the branches"
            yield spot.problem(message, "_branchOrder", index, hint=hint, severity="warning")
    return True


def _default_branch(spot: Spot, when: str) -> Iterator[Problem]:
    if "default" not in spot.get("branches"):
        message = f"{spot.step.type} has no `default` branch"
        hint = f"{when}, the step fails; add one"
        yield spot.problem(message, "branches", hint=hint, severity="warning")


def _nothing(spot: Spot) -> Iterator[Problem]:
    """RETURN takes any value, or none."""
    return iter(())


def _end(spot: Spot) -> Iterator[Problem]:
    if spot.has("value"):
        hint = "END gives nothing back: set a variable before it, or use RETURN to end all flows"
        message = "`value` means nothing on an END step"
        yield spot.problem(message, "value", hint=hint, severity="warning", at_key=True)


def _dispatch(spot: Spot) -> Iterator[Problem]:
    for key in spot.step.raw:
        if key not in DISPATCH_KEYS:
            name = spot.step.id or spot.step.pointer
            message = f'the DISPATCH step "{name}" may not have `{key}`'
            hint = "it takes id, type, outcome and reason only"
            yield spot.problem(message, key, hint=hint, at_key=True)


_CHECKS: Final[dict[str, Callable[[Spot], Iterator[Problem]]]] = {
    "SAY": _spoken,
    "SAY-GET": _say_get,
    "SET": _set,
    "CALL-TOOL": _call_tool,
    "FLOW": _flow,
    "AGENT": check_agent,
    "CASE": _case,
    "SWITCH": _switch,
    "RETURN": _nothing,
    "FORM": _form,
    "END": _end,
    "DISPATCH": _dispatch,
}
