"""CALL-TOOL: fill the arguments, ask for the call, store the result. spec: flow-engine 3.4, 6.2"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saywhy.chart.model import Node
from saywhy.chart.outcome import Answer, Need, Outcome
from saywhy.chart.scope import Scope
from saywhy.expr.chains import Path
from saywhy.expr.template import fill_paths, parse_template, path_of
from saywhy.flows import decisions, failures, toolargs
from saywhy.flows.addresses import fill_in
from saywhy.flows.answers import note_words
from saywhy.flows.corrections.log import recorded
from saywhy.flows.evaluate import FlowNames, set_cargo
from saywhy.flows.private import note_failure, note_private
from saywhy.flows.world import World
from saywhy.tools.arguments import generate
from saywhy.tools.tool import Tool
from saywhy.values import UNDEFINED, FrozenDict, FrozenList, get_path, same, seal, thaw


def call(world: World, node: Node, scope: Scope) -> Outcome:
    """Ask the outside for the tool's result. All attempts of one step share one call number."""
    if scope.kept("outside"):  # an interruption is over: whatever was waited for still is
        return decisions.take_up(world, node, scope)
    name = str(node.spec.get("tool") or "")
    tool = world.tools.find(name)
    args = _arguments(world, node, scope, tool)
    if isinstance(args, Need):
        return args
    return asked(world, scope, name, tool, args)


def asked(world: World, scope: Scope, name: str, tool: Tool | None, args: Any) -> Need:
    """The Need for the tool's result."""
    note_private(scope, tool, args)
    if not scope.kept("call"):
        scope.keep("call", scope.state.seq + 1)
    fill_in(world, scope, tool)
    # A tool that does not exist is refused: asking for it once more does no harm.
    return Need("tool", name, args, tool.effect if tool else "reads")


def _arguments(world: World, node: Node, scope: Scope, tool: Tool | None) -> Any:
    """What the tool is called with; a Need where a model has to be asked for it first."""
    names = FlowNames(world, scope)
    given = node.spec.get("args")
    if isinstance(given, Mapping) and given:
        filled, reads = fill_paths(given, names)
        scope.reads.extend(key for key in map(names.key, reads) if key is not None)
        return filled
    if tool is None:
        return {}
    modelled = scope.kept(toolargs.MODELLED)
    if modelled:  # another try is the same call
        scope.facts[toolargs.MODELLED] = modelled["names"]
        return thaw(modelled["args"])
    variables, words = thaw(names.merged()), _newest_words(scope)
    if recorded(scope.frame):
        _note_all(names, scope, tool, variables)
    wanted = toolargs.wanted(world, tool, variables, words)
    if wanted:
        _note_words(scope)
        return toolargs.asks_for(scope, tool, wanted)
    return _note_names(names, scope, generate(tool, variables, words))


def _newest_words(scope: Scope) -> str:
    return str((scope.kept("input") or [""])[0])


def _note_words(scope: Scope) -> None:
    if scope.kept("input"):  # a flow that the host started without words has none
        note_words(scope)


def _note_all(names: FlowNames, scope: Scope, tool: Tool, variables: dict[str, Any]) -> None:
    """All that the arguments may come from. A correction of any of it makes another call."""
    _note_names(names, scope, dict.fromkeys(tool.properties))
    if all(variables.get(name, UNDEFINED) in (None, UNDEFINED) for name in tool.properties):
        _note_words(scope)


def _note_names(names: FlowNames, scope: Scope, made: dict[str, Any]) -> dict[str, Any]:
    """The arguments, with the variables of their names noted as read."""
    keys = (names.key((name,)) for name in made)
    scope.reads.extend(key for key in keys if key is not None)
    return made


def _take_arguments(world: World, node: Node, scope: Scope, answer: Answer) -> Outcome:
    """Call the tool with what a model has found, or without it."""
    tool = failures.tool_of(world, node)
    assert tool is not None and scope.asked is not None, "a model is asked about a tool that is"
    names = FlowNames(world, scope)
    found = toolargs.found_in(scope.asked, answer)
    variables = thaw(names.merged())
    made = toolargs.merged(tool, variables, _newest_words(scope), found)
    filled = [name for name in found if made.get(name) is found[name]]
    scope.facts[toolargs.MODELLED] = filled
    if filled:
        scope.keep(toolargs.MODELLED, {"args": made, "names": filled})
    _note_words(scope)
    _note_names(names, scope, {name: made[name] for name in made if name not in filled})
    return asked(world, scope, str(node.spec["tool"]), tool, made)


def take_result(world: World, node: Node, scope: Scope, answer: Answer) -> Outcome:
    """Store what the tool gave, or see to its failure, or to what else its step waited for."""
    if scope.asked is not None and scope.asked.kind == "model":
        return _take_arguments(world, node, scope, answer)
    tool = failures.tool_of(world, node)
    note_private(scope, tool, answer.value)
    if answer.error is not None:
        note_failure(scope, tool, answer)
    if scope.asked is not None and scope.asked.kind != "tool":
        return decisions.take_up(world, node, scope, answer)
    if scope.kept("filled"):  # credentials among it are for the call alone
        scope.keep("filled", None)
    for attempt in answer.facts.get("attempts", ()):
        scope.append(("turn", "calls"), attempt)
    for warning in answer.facts.get("warnings", ()):
        scope.warn(f"response mapping of {node.spec.get('tool')}: {warning}")
    if answer.facts.get("to_approve") is not None:
        return decisions.ask_approval(world, node, scope, answer.facts["to_approve"])
    if answer.error is not None:
        return failures.after_fault(world, node, scope, answer)
    changed = seal(answer.facts.get("arguments_after"))
    if changed is not None and scope.asked is not None:
        before = seal(scope.asked.args)
        given = node.spec.get("args") or {name: f"{{{{{name}}}}}" for name in before}
        _write_back(world, scope, given, before, changed)
    return decisions.store_result(world, node, scope, answer.value)


def _write_back(world: World, scope: Scope, template: Any, before: Any, after: Any) -> None:
    """What a tool changed in an object it was handed by `{{path}}` stays changed. spec: 4.4 B"""
    if after is UNDEFINED or same(before, after):
        return
    if isinstance(template, str):
        single = parse_template(template).single
        path = path_of(single.source) if single else None
        if path is not None and isinstance(after, FrozenDict | FrozenList):
            _assign(world, scope, path, after)
    elif isinstance(template, Mapping):
        for name, inner in template.items():
            _write_back(world, scope, inner, get_path(before, (name,)), get_path(after, (name,)))
    elif isinstance(template, list | tuple):
        for i, inner in enumerate(template):
            _write_back(world, scope, inner, get_path(before, (i,)), get_path(after, (i,)))


def _assign(world: World, scope: Scope, path: Path, value: Any) -> None:
    names = FlowNames(world, scope)
    key = names.key(path)
    if key == ("cargo",):
        set_cargo(scope, value)
    elif key is not None and key[0] == "globals":  # read by all, written by none: a copy is
        scope.set((scope.frame.scope, path[0]), names.get(path[:1]))
        scope.set((scope.frame.scope, *path), value)
    elif key is not None and key[0] != "session":
        scope.set(key, value)
