"""A tool called by the program around an engine, outside every conversation.

It takes the one path of all calls, with its limits and checks, but has no journal: after a crash
nobody is told what became of it. What must happen once belongs into a flow.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from saywhy.expr.javascript import Evaluated
from saywhy.expr.numbers import value_text
from saywhy.expr.outcome import Given
from saywhy.expr.template import Hole, parse_template
from saywhy.runtime.machinery import Machinery
from saywhy.tools.answer import ToolAnswer
from saywhy.tools.call import CallContext, call_tool
from saywhy.tools.http.templates import PROBLEM, templates_of
from saywhy.tools.known import Known
from saywhy.tools.mapped import Surroundings
from saywhy.tools.tool import Tool
from saywhy.values import UNDEFINED


async def call_directly(
    machinery: Machinery,
    name: str,
    arguments: Mapping[str, Any],
    *,
    user_id: str,
    key: str,
    known: Known | None,
) -> ToolAnswer:
    """What came of the call, faults and refusals included; only a cancelled one raises."""
    world = machinery.world
    tool = world.tools.find(name)
    made = await call_tool(
        world.tools,
        name,
        arguments,
        CallContext(user_id=user_id, key=key, tool=name, clock=machinery.clock),
        functions=world.functions,
        limiter=machinery.limiter,
        clock=machinery.clock,
        strict=True,
        guards=machinery.guards,
        http=machinery.http,
        filled=await _filled(machinery, tool) if tool else None,
        surroundings=_surroundings(machinery),
        known=known and msgspec.structs.replace(known, constants=world.globals),
    )
    for warning in machinery.diagnose(tool, made, False):
        machinery.warn(warning)
    return made


def _surroundings(machinery: Machinery) -> Surroundings:
    apart = machinery.apart.run if machinery.apart else None
    return Surroundings(dict, machinery.world.javascript, apart)


async def _filled(machinery: Machinery, tool: Tool) -> dict[str, str]:
    """The texts of the expressions in the tool's definition, which can only read globals here."""
    templates = templates_of(tool)
    if not templates:
        return {}
    fill = partial(_fill, machinery, tool, templates)
    return await (machinery.apart.run(fill) if machinery.apart else _now(fill))


async def _now(fill: partial[dict[str, str]]) -> dict[str, str]:
    return fill()


def _fill(machinery: Machinery, tool: Tool, templates: Mapping[str, str]) -> dict[str, str]:
    names = Given(machinery.world.globals)
    filled: dict[str, str] = {}
    for pointer, text in templates.items():
        pieces: list[str] = []
        for part in parse_template(text).parts:
            if not isinstance(part, Hole):
                pieces.append(part)
                continue
            found = machinery.world.javascript.evaluate(
                part.source, names, now_ms=machinery.clock.now()
            )
            if not isinstance(found, Evaluated) or found.value in (None, UNDEFINED):
                shown = f"{{{{{part.source}}}}}"
                return {PROBLEM: f"{shown} gives nothing, at {pointer} of tool {tool.name}"}
            pieces.append(value_text(found.value))
        filled[pointer] = "".join(pieces)
    return filled
