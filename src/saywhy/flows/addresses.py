"""The expressions that a tool's own definition holds, in its address, headers and credentials.

They are evaluated by the step that calls the tool, where the variables are and what was read is
recorded; the tool gets texts. spec: flow-engine 6.3
"""

from __future__ import annotations

from saywhy.chart.scope import Scope
from saywhy.expr.javascript import Evaluated
from saywhy.expr.numbers import value_text
from saywhy.expr.template import Hole, parse_template
from saywhy.flows.evaluate import evaluate
from saywhy.flows.world import World
from saywhy.tools.http.secrets import is_secret_spot
from saywhy.tools.http.templates import PROBLEM, templates_of
from saywhy.tools.tool import Tool
from saywhy.values import UNDEFINED


def fill_in(world: World, scope: Scope, tool: Tool | None) -> None:
    """Keep the texts on the frame for the call that is asked for now, each time anew.

    What was filled in before an approval or a settlement may be a credential that has expired.
    """
    filled = filled_templates(world, scope, tool) if tool else {}
    if filled or scope.kept("filled"):
        scope.keep("filled", filled)


def filled_templates(world: World, scope: Scope, tool: Tool) -> dict[str, str]:
    """JSON pointer inside the definition → its text with the expressions filled in.

    An expression that fails or gives nothing makes the call fail instead of going to an address
    that nobody meant: what is wrong then stands under `PROBLEM`. Texts put into credentials are
    masked wherever they are recorded.
    """
    filled: dict[str, str] = {}
    for pointer, text in templates_of(tool).items():
        made, problem = _filled(world, scope, text)
        if problem:
            return {PROBLEM: f"{problem}, at {pointer} of tool {tool.name}"}
        filled[pointer] = made
        if is_secret_spot(pointer):
            scope.secrets += tuple({made, made.rpartition(" ")[2]} - {""})
    return filled


def _filled(world: World, scope: Scope, text: str) -> tuple[str, str]:
    """The text, and why there is none."""
    pieces: list[str] = []
    for part in parse_template(text).parts:
        if not isinstance(part, Hole):
            pieces.append(part)
            continue
        found = evaluate(world, scope, part.source)
        shown = f"{{{{{part.source}}}}}"
        if not isinstance(found, Evaluated):
            return "", f"{shown} cannot be evaluated: {found.kind}: {found.message}"
        if found.value is UNDEFINED or found.value is None:
            return "", f"{shown} gives nothing"
        pieces.append(value_text(found.value))
    return "".join(pieces), ""
