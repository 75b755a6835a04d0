"""A rule about a tool's results, and how an agent changes the rules of a tool it shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, TypeAlias

import msgspec

from saywhy.agent.instructions.context import InstructionContext
from saywhy.agent.instructions.follow_up import FollowUpBinding, ResolvedFollowUp

When: TypeAlias = Callable[[InstructionContext], bool]
Decide: TypeAlias = Callable[[Any, InstructionContext], object]
"""Changes the decision, a dict whose fields are attributes as well, by what a tool answered."""


@dataclass(frozen=True, slots=True, eq=False)
class LLMInstruction:
    """What a model is told when a tool's result is of a certain kind.

    `when` looks at the result; without it the rule always fires. `text` is put after the result as
    it is, `follow_up` as an action the model may offer. Of several rules the lower `priority`
    stands first. A rule of `safety` stands last, nearest to what the model writes; it fires even
    when its condition raises, and no budget drops it. `decide` changes the decision by which
    instructions of the agent are active. `description` is for people.

    Two rules are the same only if they are one object: an id may stand in several places.
    """

    id: str
    _: KW_ONLY
    description: str = ""
    when: When | None = None
    text: str | None = None
    follow_up: FollowUpBinding | None = None
    priority: float = 0
    safety: bool = False
    decide: Decide | None = None


@dataclass(frozen=True, slots=True, eq=False)
class InstructionOverride:
    """How one agent changes the rules of a tool: leave out by id, change fields by id, add."""

    suppress: Sequence[str] = ()
    replace: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """Id → fields of `LLMInstruction` to change; the id stays."""
    add: Sequence[LLMInstruction] = ()


class ResolvedInstruction(msgspec.Struct, frozen=True):
    """A rule that fired, with what it came to for this result."""

    id: str
    text: str | None = None
    resolved_follow_up: ResolvedFollowUp | None = None
    safety: bool = False
    priority: float = 0
    rule: LLMInstruction | None = None
    """The rule itself; None for what a handler said."""

    def to_value(self) -> dict[str, Any]:
        """What a record keeps of it."""
        fields: dict[str, Any] = {"id": self.id}
        if self.text is not None:
            fields["text"] = self.text
        if self.resolved_follow_up is not None:
            fields["follow_up"] = self.resolved_follow_up.to_value()
        return {**fields, "safety": self.safety, "priority": self.priority}
