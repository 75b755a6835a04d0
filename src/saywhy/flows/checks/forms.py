"""What is wrong with a FORM: its inputs, its texts, and the names of inputs that its texts use.

Its `submit` is a CALL-TOOL step and is judged as one; here only what makes it a form's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from saywhy.errors import CallerError, Problem, did_you_mean
from saywhy.expr.names import read_expression
from saywhy.expr.template import path_of
from saywhy.flows.checks.code import codes_of, texts_of
from saywhy.flows.checks.keypads import check_digits
from saywhy.flows.checks.keys import misspelt_keys
from saywhy.flows.checks.rules import check_rules
from saywhy.flows.checks.spot import Severity, Spot
from saywhy.flows.checks.switches import check_switches
from saywhy.flows.forms.model import KINDS, read_form
from saywhy.flows.read_flow import kind_of
from saywhy.flows.source import join
from saywhy.helpers.currencies import precision_of
from saywhy.helpers.money import INTENTS
from saywhy.tools.effect import effect_of

INPUT_KEYS: Final = frozenset(
    [
        *("name", "kind", "prompt", "label", "description", "required", "when", "value"),
        *("choices", "digits", "money", "region", "cues"),
        *("asSpoken", "pii", "inputValidation"),
    ]
)
LANGUAGE_KEYS: Final = ("prompt_", "label_", "description_", "cues_")
MONEY_KEYS: Final = frozenset({"currency", "cardinals", "intent"})
CHOICE_KEYS: Final = frozenset({"value", "words"})
YIELDS: Final = ("keep", "drop")
OWN_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "choices": ("choice",),
    "money": ("amount",),
    "region": ("phone",),
    "cues": ("name", "text"),
}
"""Keys of an input that mean something for some kinds only."""

_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*\Z")
_REGION: Final = re.compile(r"[A-Z]{2}\Z")
_CURRENCY: Final = re.compile(r"[A-Z]{3}\Z")
_OF_INPUTS: Final = ("digits", "pii", "asSpoken", "value", "prompt", "choices", "money", "when")
_RETRIES: Final = ("retryDelay", "retryStrategy", "retryOnConditions")


def check_form(spot: Spot) -> Iterator[Problem]:
    """Every problem of a FORM step's own keys, but for its variable."""
    yield from _texts(spot)
    yield from _inputs(spot)
    yield from _submit(spot)
    yield from _end(spot)
    yield from _misplaced(spot)


def check_form_names(spot: Spot) -> Iterator[Problem]:
    """Names of inputs that a form does not have: `form.amuont`, in it and in its submission."""
    form = read_form(spot.step.raw)
    known = [entry.name for entry in form.inputs]
    for step in (spot.step, *([spot.step.submit] if spot.step.submit else [])):
        inside = Spot(spot.library, spot.known, spot.flow, step)
        for text in texts_of(step):
            for code in codes_of(text):
                for path in _paths(code.source, code.language):
                    if len(path) > 1 and path[0] == form.variable and path[1] not in known:
                        name = str(path[1])
                        at = max(code.source.find(f"{form.variable}.{name}"), 0)
                        start = at + len(form.variable) + 1
                        yield inside.text_problem(
                            f'the form has no input "{name}"',
                            text.path,
                            text.text,
                            code.span(start, start + len(name)),
                            hint=did_you_mean(name, known),
                            known_names=known,
                            in_key=text.in_key,
                        )


def _paths(source: str, language: str) -> list[tuple[Any, ...]]:
    if language == "path":
        path = path_of(source)
        return [tuple(path)] if path else []
    reading = read_expression(source)
    return [] if reading.error else sorted((tuple(path) for path in reading.reads), key=str)


# ------------------------------------------------------------------ texts


def _texts(spot: Spot) -> Iterator[Problem]:
    for key in ("review", "confirm", "retry"):
        yield from _text(spot, spot.step.raw, key, ())
    if spot.has("confirm") and isinstance(spot.get("confirm"), str) and not spot.get("confirm"):
        hint = "write what the user is to agree to, or remove `confirm`"
        yield spot.problem("the confirmation asks nothing", "confirm", hint=hint)


def _text(
    spot: Spot, raw: Mapping[str, Any], key: str, path: tuple[str | int, ...]
) -> Iterator[Problem]:
    """A text, in every language. In which it is missing is `checks.languages`'."""
    for name, value in raw.items():
        if (name == key or name.startswith(f"{key}_")) and not isinstance(value, str):
            message = f"`{name}` must be a text, this is {kind_of(value)}"
            yield spot.problem(message, *path, name, hint="put it in quotes")


# ------------------------------------------------------------------ inputs


def _inputs(spot: Spot) -> Iterator[Problem]:
    inputs = spot.get("inputs")
    if not isinstance(inputs, list) or not inputs:
        message = "FORM has no `inputs`"
        if inputs is not None and not isinstance(inputs, list):
            message = f"`inputs` must be a list, this is {kind_of(inputs)}"
        hint = 'write [{"name": "amount", "kind": "amount", "prompt": "How much?"}]'
        yield spot.problem(message, "inputs", hint=hint)
        return
    seen: dict[str, int] = {}
    labels: dict[str, str] = {}
    for place, raw in enumerate(inputs):
        path = ("inputs", place)
        if not isinstance(raw, dict):
            message = f"an input must be an object, this is {kind_of(raw)}"
            hint = 'write {"name": "amount", "kind": "amount", "prompt": "How much?"}'
            yield spot.problem(message, *path, hint=hint)
            continue
        yield from _identity(spot, raw, path, seen, labels)
        yield from _input(spot, raw, path)


def _identity(
    spot: Spot,
    raw: dict[str, Any],
    path: tuple[str | int, ...],
    seen: dict[str, int],
    labels: dict[str, str],
) -> Iterator[Problem]:
    """The name of an input and what people call it: both must tell it from the others."""
    name = raw.get("name")
    if not isinstance(name, str) or not name:
        hint = 'write "name": "amount"; the value is {{form.amount}} then'
        yield spot.problem("an input without `name`", *path, hint=hint)
        return
    if not _NAME.match(name):
        message = f'the name of an input must be a plain name, "{name}" is none'
        hint = "use letters, digits and _, not beginning with a digit"
        yield spot.problem(message, *path, "name", hint=hint)
    if name in seen:
        message = f'two inputs of this form are called "{name}"'
        hint = "rename one; the second value would take the place of the first"
        yield spot.problem(message, *path, "name", hint=hint)
    seen[name] = len(seen)
    entry = read_form({"inputs": [raw]}).inputs[0]
    label = entry.label("").lower()
    if label in labels and labels[label] != name:
        message = f'"{labels[label]}" and "{name}" are both called "{label}"'
        hint = "give them different `label`s; users tell them apart by these words"
        yield spot.problem(message, *path, hint=hint, severity="warning")
    labels[label] = name


def _input(spot: Spot, raw: dict[str, Any], path: tuple[str | int, ...]) -> Iterator[Problem]:
    yield from misspelt_keys(
        spot.flow,
        join(spot.step.pointer, *path),
        raw,
        INPUT_KEYS,
        prefixes=LANGUAGE_KEYS,
        step=spot.step.id,
    )
    kind = yield from _kind(spot, raw, path)
    for key in ("prompt", "label", "description"):
        yield from _text(spot, raw, key, path)
    if not raw.get("prompt") and raw.get("required") is not False:
        named = f'the input "{raw["name"]}"' if raw.get("name") else "an input"
        message = f"{named} has no `prompt`"
        hint = 'write what to ask: "prompt": "How much?"'
        yield spot.problem(message, *path, hint=hint)
    yield from _switches(spot, raw, path)
    for key, kinds in OWN_KINDS.items():
        if raw.get(key) is not None and kind and kind not in kinds:
            message = f"`{key}` means nothing on an input of the kind {kind}"
            hint = f"it belongs on {' or '.join(kinds)}"
            yield spot.problem(message, *path, key, hint=hint, severity="warning", at_key=True)
    if kind == "choice":
        yield from _choices(spot, raw.get("choices"), path)
    yield from _money(spot, raw.get("money"), (*path, "money"))
    yield from check_digits(spot, raw.get("digits"), *path, "digits")
    rules = (*path, "inputValidation")
    yield from check_rules(spot, raw.get("inputValidation"), rules, of_input=True)
    region = raw.get("region")
    if region is not None and not (isinstance(region, str) and _REGION.match(region)):
        hint = 'write the two capital letters of a country: "MX"'
        yield spot.problem("`region` must be a country", *path, "region", hint=hint)
    for key, words in raw.items():
        if key == "cues" or key.startswith("cues_"):
            yield from _words(spot, words, (*path, key), '["to", "for"]')


def _kind(spot: Spot, raw: dict[str, Any], path: tuple[str | int, ...]) -> Any:
    """A generator that gives the kind, or nothing where there is no such kind."""
    kind = raw.get("kind")
    if kind in KINDS:
        return kind
    one_of = f"use one of {', '.join(KINDS)}"
    hint = one_of if kind is None else did_you_mean(str(kind), KINDS) or one_of
    message = f'unknown kind "{kind}" of an input'
    if kind is None:
        message = f'the input "{raw.get("name")}" has no `kind`'
        yield spot.problem(message, *path, hint=hint)
    else:
        yield spot.problem(message, *path, "kind", hint=hint)
    return ""


def _switches(spot: Spot, raw: dict[str, Any], path: tuple[str | int, ...]) -> Iterator[Problem]:
    required = raw.get("required")
    if required is not None and not isinstance(required, bool):
        message = f"`required` must be true or false, this is {kind_of(required)}"
        yield spot.problem(message, *path, "required", hint="write it without quotes")
    yield from check_switches(spot, raw, *path)
    when = raw.get("when")
    if when is not None and not isinstance(when, str):
        message = f"`when` must be a condition, this is {kind_of(when)}"
        hint = "write when the input is asked for: \"form.method === 'card'\""
        yield spot.problem(message, *path, "when", hint=hint)


def _choices(spot: Spot, choices: Any, path: tuple[str | int, ...]) -> Iterator[Problem]:
    if not isinstance(choices, list) or not choices:
        message = "a choice needs `choices`, a list of its values"
        hint = 'write ["cash", "card"], or {"value": "card", "words": ["credit card"]} for each'
        yield spot.problem(message, *path, "choices", hint=hint)
        return
    seen: set[Any] = set()
    for place, choice in enumerate(choices):
        at = (*path, "choices", place)
        value = choice.get("value") if isinstance(choice, dict) else choice
        if value is None or isinstance(value, dict | list):
            hint = 'write a text, or {"value": "card", "words": ["credit card"]}'
            yield spot.problem("a choice without a value", *at, hint=hint)
            continue
        if str(value).casefold() in seen:
            hint = "remove one; users could not tell them apart"
            yield spot.problem(f'"{value}" stands twice in `choices`', *at, hint=hint)
        seen.add(str(value).casefold())
        if not isinstance(choice, dict):
            continue
        yield from misspelt_keys(
            spot.flow,
            join(spot.step.pointer, *at),
            choice,
            CHOICE_KEYS,
            prefixes=("words_",),
            step=spot.step.id,
        )
        for key, words in choice.items():
            if key == "words" or key.startswith("words_"):
                yield from _words(spot, words, (*at, key), '["card", "credit card"]')


def _words(spot: Spot, words: Any, path: tuple[str | int, ...], example: str) -> Iterator[Problem]:
    given = words if isinstance(words, list) else [words]
    if not given or not all(isinstance(word, str) and word.strip() for word in given):
        message = f"`{path[-1]}` must be a list of words, this is {kind_of(words)}"
        if isinstance(words, list):
            message = f"`{path[-1]}` must be a list of words that are not empty"
        yield spot.problem(message, *path, hint=f"write {example}")


def _money(spot: Spot, money: Any, path: tuple[str | int, ...]) -> Iterator[Problem]:
    if money is None:
        return
    if not isinstance(money, dict):
        message = f"`money` must be an object, this is {kind_of(money)}"
        yield spot.problem(message, *path, hint='write {"currency": "USD"}')
        return
    pointer = join(spot.step.pointer, *path)
    yield from misspelt_keys(spot.flow, pointer, money, MONEY_KEYS, step=spot.step.id)
    currency = money.get("currency")
    if currency is not None and not (isinstance(currency, str) and _CURRENCY.match(currency)):
        hint = 'write three capital letters: "USD"'
        yield spot.problem(
            "`currency` must be the code of a currency", *path, "currency", hint=hint
        )
    elif currency is not None and not _is_currency(currency):
        hint = 'write a code of ISO 4217: "USD", "MXN", "EUR"'
        yield spot.problem(f"no currency has the code {currency}", *path, "currency", hint=hint)
    cardinals = money.get("cardinals")
    if cardinals is not None and not isinstance(cardinals, bool):
        message = f"`cardinals` must be true or false, this is {kind_of(cardinals)}"
        yield spot.problem(message, *path, "cardinals", hint="write it without quotes")
    intent = money.get("intent")
    if intent is not None and intent not in INTENTS:
        hint = did_you_mean(str(intent), tuple(INTENTS)) or f"use one of {', '.join(INTENTS)}"
        yield spot.problem(f'unknown intent "{intent}"', *path, "intent", hint=hint)


def _is_currency(code: str) -> bool:
    try:
        precision_of(code)
    except CallerError:
        return False
    return True


# ------------------------------------------------------------------ how it ends


def _submit(spot: Spot) -> Iterator[Problem]:
    submit = spot.get("submit")
    if submit is None:
        return
    if not isinstance(submit, dict):
        message = f"`submit` must be an object, this is {kind_of(submit)}"
        hint = 'write {"tool": "transfer", "args": {"amount": "{{form.amount}}"}}'
        yield spot.problem(message, "submit", hint=hint)
        return
    if submit.get("type") not in (None, "CALL-TOOL"):
        message = f"`submit` calls a tool, it cannot be a step of the type {submit['type']}"
        yield spot.problem(message, "submit", "type", hint="remove `type`")
    tool = spot.library.tool(str(submit.get("tool") or ""))
    if tool is not None and effect_of(tool.raw) == "once" and not spot.has("confirm"):
        message = f"the form hands over to {tool.id}, which acts once, without asking the user"
        hint = 'add "confirm": "Shall I send it?"; a value that was read wrongly is seen there'
        yield spot.problem(message, "submit", hint=hint, severity="warning", at_key=True)


def _end(spot: Spot) -> Iterator[Problem]:
    wanted = spot.get("onYield")
    if wanted is not None and wanted not in YIELDS:
        hint = did_you_mean(str(wanted), YIELDS) or "use keep or drop"
        yield spot.problem(f'unknown onYield "{wanted}"', "onYield", hint=hint)
    if spot.has("onDecline") and not spot.has("confirm"):
        message = "`onDecline` never runs: nothing is confirmed"
        hint = "add `confirm`, or remove it"
        yield spot.problem(message, "onDecline", hint=hint, severity="warning", at_key=True)


def _misplaced(spot: Spot) -> Iterator[Problem]:
    """Keys of any step that a form has elsewhere."""
    places: dict[str, tuple[str, Severity]] = {
        "inputValidation": ("write it into the input that it checks", "error"),
        **dict.fromkeys(_OF_INPUTS, ("write it into the input that it is about", "error")),
        "timeout": ("a form waits as long as its flow does: see `inactivity` of the flow", "error"),
        "tool": ('write "submit": {"tool": …}', "error"),
        "args": ('write "submit": {"tool": …, "args": …}', "error"),
        "onFail": ("write it into `submit`, whose call may fail", "error"),
        "onUnknown": ("write it into `submit`, whose call may be in doubt", "error"),
        **dict.fromkeys(
            _RETRIES, ("what is tried again is the call: write it into `submit`", "error")
        ),
    }
    for key, (hint, severity) in places.items():
        if spot.has(key):
            message = f"`{key}` means nothing on a FORM step"
            yield spot.problem(message, key, hint=hint, severity=severity, at_key=True)
