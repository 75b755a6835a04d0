"""What a form says: its questions, what it has so far, what it did not understand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from saywhy.chart.model import Node
from saywhy.chart.outcome import Need
from saywhy.chart.scope import Scope
from saywhy.flows import answers, asking
from saywhy.flows.evaluate import say_text
from saywhy.flows.forms import record
from saywhy.flows.forms.model import Form, Input
from saywhy.flows.forms.values import shown_value
from saywhy.flows.speech import localized, prompt_of, say_more, say_phrase
from saywhy.flows.world import World
from saywhy.values import FrozenDict


class Talk(msgspec.Struct, frozen=True):
    """A form in the step that runs, with all that is needed to speak of it."""

    world: World
    node: Node
    scope: Scope
    form: Form
    language: str

    def phrase(self, name: str, **values: Any) -> str:
        """One of the library's own sentences."""
        return say_phrase(self.world, self.scope, name, self.language, **values)

    def text(self, raw: Mapping[str, Any], key: str) -> str:
        """A text of the author's, filled in; empty where there is none."""
        return say_text(self.world, self.scope, localized(raw, key, self.language))

    def label(self, name: str) -> str:
        """What people call an input."""
        entry = self.form.input(name)
        return entry.label(self.language) if entry else name

    @property
    def values(self) -> Mapping[str, Any]:
        """What the form has so far."""
        held = self.scope.peek((self.scope.frame.scope, self.form.variable))
        return held.raw if isinstance(held, FrozenDict) else {}

    # ------------------------------------------------------------ questions

    def ask_input(self, kept: dict[str, Any], entry: Input) -> Need:
        """The question for one input."""
        text = self.text(entry.raw, "prompt") or f"{entry.label(self.language)}?"
        kept |= {"phase": "collect", "asking": entry.name, "tie": None}
        return self._pose(kept, text, entry_node(self.node, entry), entry.name, self.is_pii(entry))

    def ask_tie(self, kept: dict[str, Any]) -> Need:
        """Which of several inputs the words belong to."""
        tie = kept["tie"]
        names: list[str] = list(tie["values"])
        labels = self.phrase("form_or").join(self.label(name) for name in names)
        text = self.phrase("form_tie", words=tie["words"], choices=labels)
        kept |= {"phase": "tie", "asking": ""}
        return self._pose(kept, text, self.node, "which", False)

    def ask_confirmation(self, kept: dict[str, Any]) -> Need:
        """Whether what was read out is right."""
        review = self.text(self.form.raw, "review")
        if review.strip():
            say_more(self.world, self.scope, review)
        kept |= {"phase": "confirm", "asking": "", "tie": None}
        return self._pose(kept, self.text(self.form.raw, "confirm"), self.node, "confirm", False)

    def _pose(self, kept: dict[str, Any], text: str, node: Node, name: str, pii: bool) -> Need:
        scope = self.scope
        guided = not kept["misses"] and not kept.get("refusals")
        asking.pose(self.world, scope, text, guided=guided)
        scope.keep("lastAsk", self.node.id)
        kept.pop("question", None)
        record.keep(scope, kept)
        return answers.wait(self.world, node, scope, name, field=name, pii=pii)

    def is_pii(self, entry: Input) -> bool:
        """Whether what is typed for an input is sensitive."""
        return answers.is_sensitive(self.world, self.scope, entry.raw.get("pii"))

    # ------------------------------------------------------------ what there is so far

    def say_resumed(self, kept: Mapping[str, Any], *, named: bool) -> None:
        """What was collected before the form was left, without what is sensitive."""
        if named:
            prompt = prompt_of(self.scope.charts, self.scope.frame.chart, self.language)
            say_more(self.world, self.scope, self.phrase("flow_resumed", flowName=prompt))
        collected = record.shown(self.values, kept)
        so_far = self.summary(collected.items())
        if so_far:
            place = (self.scope.frame.scope, self.form.variable)
            self.scope.reads += [(*place, name) for name in collected]
            say_more(self.world, self.scope, self.phrase("form_so_far", filled=so_far))

    def summary(self, values: Iterable[tuple[str, Any]]) -> str:
        """Inputs with their values: `amount 80 USD, to Ann`."""
        return ", ".join(
            f"{entry.label(self.language)} {shown_value(entry, value, self.language)}"
            for name, value in values
            if (entry := self.form.input(name)) is not None
        )


def entry_node(node: Node, entry: Input) -> Node:
    """The step as the question for one input: what asks and shapes answers looks at its keys."""
    keys = ("digits", "asSpoken", "pii")
    spec = {key: entry.raw[key] for key in keys if key in entry.raw}
    return msgspec.structs.replace(node, spec={**spec, "variable": entry.name})
