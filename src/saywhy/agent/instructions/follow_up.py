"""Offers of a next call, with arguments taken from the result instead of being typed again.

A binding says how to fill the arguments; a resolved follow-up has them. When one marked `strict` is
carried out without the model is in `pending`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final, TypeAlias

import msgspec

from saywhy.agent.instructions.context import InstructionContext
from saywhy.errors import CallerError
from saywhy.values import FrozenDict, freeze

ASKED_FOR_MORE: Final = "User asks for more details"
"""When an action is to be offered, unless something else is said."""

Params: TypeAlias = Callable[[InstructionContext], Mapping[str, Any]]
Matcher: TypeAlias = Callable[[str], bool]
"""Says whether the user's next message asks for the action."""


@dataclass(frozen=True, slots=True, eq=False)
class FollowUpBinding:
    """A next call that fits a result.

    `params` fills the arguments of the tool `tool_id` from the result. `description` says what the
    call does and `condition` when to offer it, both in words for the model. `strict`: should the
    user's next message ask for it, the call is made as it stands here, and the model only speaks
    about its result; `matcher` decides that instead of the words of `condition`.
    """

    tool_id: str
    params: Params
    description: str
    condition: str = ASKED_FOR_MORE
    _: KW_ONLY
    strict: bool = False
    matcher: Matcher | None = None

    def resolve(self, ctx: InstructionContext) -> ResolvedFollowUp:
        """The call for this result. Raises what `params` raises, or what it gives is no JSON."""
        given: Any = self.params(ctx)
        if not isinstance(given, Mapping):
            raise TypeError(f"params gave {type(given).__name__}, not a mapping of arguments")
        params = freeze(dict(given), ("params",))
        return ResolvedFollowUp(
            self.tool_id, params, self.description, self.condition, self.strict, self.matcher
        )


class ResolvedFollowUp(msgspec.Struct, frozen=True):
    """A next call with its arguments."""

    tool_id: str
    params: FrozenDict
    description: str = ""
    condition: str = ""
    strict: bool = False
    matcher: Matcher | None = None
    """Of the binding; not part of the value."""

    def to_value(self) -> FrozenDict:
        """The follow-up as a value of a conversation."""
        fields = {
            "tool_id": self.tool_id,
            "params": self.params.raw,
            "description": self.description,
            "condition": self.condition,
            "strict": self.strict,
        }
        return FrozenDict(fields)


class RuntimeFollowUp(msgspec.Struct, frozen=True, omit_defaults=True):
    """A next call that a handler offers together with its result, arguments included."""

    tool_id: str
    params: Mapping[str, Any]
    description: str = ""
    condition: str = ASKED_FOR_MORE
    strict: bool = False


def resolved_runtime(given: Any) -> ResolvedFollowUp:
    """A follow-up of a handler: a `RuntimeFollowUp` or a mapping like one.

    Raises `CallerError` where the tool or the arguments are missing.
    """
    if isinstance(given, RuntimeFollowUp):
        given = msgspec.structs.asdict(given)
    if not isinstance(given, Mapping):
        raise CallerError(f"a follow-up is a mapping, not {type(given).__name__}")
    tool_id, params = given.get("tool_id"), given.get("params")
    if not isinstance(tool_id, str) or not tool_id:
        raise CallerError("a follow-up without a tool_id")
    if not isinstance(params, Mapping):
        raise CallerError(f"a follow-up to {tool_id} without params")
    return ResolvedFollowUp(
        tool_id,
        freeze(dict(params), ("params",)),
        _text(given.get("description"), f"Follow up with {tool_id}"),
        _text(given.get("condition"), ASKED_FOR_MORE),
        given.get("strict") is True,
    )


def _text(given: Any, otherwise: str) -> str:
    return given if isinstance(given, str) else otherwise


def quick_bind(
    tool_id: str,
    names: str | Sequence[str],
    description: str = "",
    condition: str = "",
    *,
    strict: bool = False,
    matcher: Matcher | None = None,
) -> FollowUpBinding:
    """A follow-up whose arguments are the fields of the same names in the result.

    A field that is missing is left out.
    """
    wanted = (names,) if isinstance(names, str) else tuple(names)

    def params(ctx: InstructionContext) -> dict[str, Any]:
        content = ctx.content
        if not isinstance(content, dict):
            return {}
        return {name: content[name] for name in wanted if name in content}

    return FollowUpBinding(
        tool_id,
        params,
        description or f"Follow up with {tool_id}",
        condition or ASKED_FOR_MORE,
        strict=strict,
        matcher=matcher,
    )


def follow(
    tool_id: str,
    params: Params,
    description: str,
    condition: str = "",
    *,
    strict: bool = False,
    matcher: Matcher | None = None,
) -> FollowUpBinding:
    """A follow-up whose arguments a function computes from the result."""
    when = condition or ASKED_FOR_MORE
    return FollowUpBinding(tool_id, params, description, when, strict=strict, matcher=matcher)
