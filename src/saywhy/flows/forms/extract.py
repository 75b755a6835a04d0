"""What a language model finds in an answer for the inputs of a form.

Only asked where the rules of `matching` left something unread. What it says is read once more as
if the user had typed it, so that no model can put in what no user could.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from saywhy.chart.outcome import Answer, Need
from saywhy.errors import InvalidReply
from saywhy.expr.numbers import value_text
from saywhy.flows.forms.matching import Slot
from saywhy.flows.modelled import Prompt, ask_model
from saywhy.flows.world import World
from saywhy.host import (
    FlowOption,
    ParameterOption,
    build_parameter_stage,
    decode_parameters_llm,
)
from saywhy.values import freeze

TASK: Final = "extract_parameters"
_TYPES: Final[Mapping[str, str]] = {"amount": "number", "number": "number", "yes-no": "boolean"}
_FORMS: Final[Mapping[str, str]] = {
    "date": "as YYYY-MM-DD where the day is certain, else in the user's words",
    "phone": "with the country code where the user said it",
    "amount": "with its currency where the user said one",
}


def asks_for(form: str, slots: Sequence[Slot], words: str, question: str, language: str) -> Need:
    """The question to the model: which of these inputs does the answer state?"""
    return ask_model(
        TASK,
        form=form,
        input=words,
        conversation=[{"role": "assistant", "content": question}] if question else [],
        inputs=[_described(slot, language) for slot in slots],
    )


def _described(slot: Slot, language: str) -> dict[str, Any]:
    entry = slot.entry
    said = [entry.label(language), entry.text("description", language), _FORMS.get(entry.kind, "")]
    shown: dict[str, Any] = {
        "name": entry.name,
        "description": "; ".join(one for one in said if one),
        "type": "string" if entry.kind == "amount" else _TYPES.get(entry.kind, "string"),
    }
    if entry.kind == "choice":
        shown["enum"] = [value_text(freeze(one.value)) for one in entry.choices(language)]
    return shown


def prompt(world: World, facts: Mapping[str, Any]) -> Prompt:
    """The question in words; the same as for the parameters of a flow."""
    call = build_parameter_stage(facts["input"], facts["conversation"], _option(facts))
    return Prompt(call.system, call.user, call.schema, call.request)


def found_in(asked: Need, answer: Answer) -> dict[str, Any]:
    """The values in a reply, by input; none where the model failed or said nothing readable."""
    if answer.error is not None:
        return {}
    try:
        choice = decode_parameters_llm(_option(asked.args), str(answer.value or ""))
    except InvalidReply:
        return {}
    return dict(choice.parameters)


def _option(facts: Mapping[str, Any]) -> FlowOption:
    inputs = [
        ParameterOption(one["name"], one["description"], one["type"], tuple(one.get("enum") or ()))
        for one in facts["inputs"]
    ]
    return FlowOption(facts["form"], facts["form"], "", tuple(inputs))
