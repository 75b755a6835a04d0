"""What an engine masks: what its host says, what its tools hold, what flows and tools declare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from saywhy.expr.numbers import value_text
from saywhy.flows.model import Flow
from saywhy.flows.privacy import declared_in, parts_of
from saywhy.flows.world import World
from saywhy.tools.http.secrets import static_secrets
from saywhy.tools.registry import Registry
from saywhy.tools.tool import Tool
from saywhy.trace.masking.declared import Declared
from saywhy.trace.masking.redact import SHORTEST_TAINT, Policy, path_of
from saywhy.trace.masking.sensitive import SensitiveNames, gives_away
from saywhy.values import Key, dumps, raw

_DEEPEST: Final = 8


def kept_private(world: World, policy: Policy) -> tuple[World, Policy]:
    """The world, which knows whether there is anything to look out for, and what is masked."""
    policy = masked_by(world.tools, policy)
    secrets = list(_secret_globals(world, policy))
    texts = tuple(text for _, text in secrets if len(text) >= SHORTEST_TAINT)
    declared = declared_in(world.order, world.tools)
    if world.agents:
        declared = declared.joined(_hidden(policy))
    paths = (*map(path_of, policy.paths), *_mentioned(world.order, [path for path, _ in secrets]))
    if paths:
        parts = declared.parts or parts_of(world.order)
        declared = replace(declared.with_paths(paths), parts=parts)
    if texts or declared:
        secrets = (*policy.secrets, *texts)
        policy = replace(policy, secrets=secrets, declared=declared, paths=())
    return (replace(world, watches=True) if declared else world), policy


def masked_for(tools: Iterable[Tool], policy: Policy) -> Policy:
    """The policy of an agent that runs alone: its tools hold secrets and declare things, too."""
    given = tuple(tools)
    policy = masked_by(Registry({tool.id: tool for tool in given}.values()), policy)
    declared = policy.declared.joined(declared_in((), given)).joined(_hidden(policy))
    return replace(policy, declared=declared)


def _hidden(policy: Policy) -> Declared:
    """What a policy hides of calls, where agents make them: there it stands in many places."""
    whole = dict.fromkeys(policy.tools, ((),))
    return Declared(arguments=whole, answers=whole)


def masked_by(tools: Registry, policy: Policy) -> Policy:
    """The policy, which masks what the tools hold and what they are about as well."""
    secrets = tuple(secret for tool in tools for secret in static_secrets(tool))
    hidden = tuple(
        name for tool in tools if tool.security.is_masked for name in (tool.id, tool.name)
    )
    if not secrets and not hidden:
        return policy
    return replace(policy, secrets=(*policy.secrets, *secrets), tools=(*policy.tools, *hidden))


def _secret_globals(world: World, policy: Policy) -> Iterator[tuple[Key, str]]:
    """Global variables with a name that promises a secret, wherever they are nested."""
    names = SensitiveNames(policy.names, policy.open)
    yield from _secrets_in(world.globals.raw, ("globals",), names)


def _secrets_in(tree: Any, path: Key, names: SensitiveNames) -> Iterator[tuple[Key, str]]:
    if not isinstance(tree, Mapping) or len(path) > _DEEPEST:
        return
    for name, value in tree.items():
        inside = raw(value)
        if isinstance(inside, str | int | float) and name in names and gives_away(name, inside):
            yield (*path, name), value_text(inside)
        else:
            yield from _secrets_in(inside, (*path, name), names)


def _mentioned(flows: Iterable[Flow], paths: Iterable[Key]) -> Iterator[Key]:
    """Those that some flow may read: what it makes of them is as secret as they are."""
    wanted = list(paths)
    if wanted:
        written = "\n".join(dumps(flow.raw).decode() for flow in flows)
        yield from (path for path in wanted if str(path[1]) in written)


__all__ = ["kept_private", "masked_by", "masked_for"]
