"""Which tools may be used: a set of names that can be changed while agents run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from saywhy.errors import CallerError, did_you_mean

ALL: Final = "*"
"""In a set of names: every tool."""

Listener = Callable[["PermissionPolicy"], object]


class PermissionPolicy:
    """The tools that may be used, as a set that is granted, revoked, or taken from a role.

    It is read each time tools are offered and once more when one is called, so a change counts
    from the next call on.
    """

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        self._allowed = set(allowed)
        self._roles: dict[str, frozenset[str]] = {}
        self._listeners: list[Listener] = []
        self.role: str | None = None
        """The active role, None where none was chosen."""

    @classmethod
    def from_roles(cls, roles: Mapping[str, Iterable[str]], active: str) -> PermissionPolicy:
        """A policy with roles, each a set of names. Raises `CallerError` for an unknown one."""
        policy = cls()
        policy._roles = {name: frozenset(names) for name, names in roles.items()}
        policy.set_role(active)
        return policy

    @property
    def allowed(self) -> frozenset[str]:
        """The names, among them `*` where everything may be used."""
        return frozenset(self._allowed)

    def allows(self, name: str) -> bool:
        """Whether the tool may be used."""
        return ALL in self._allowed or name in self._allowed

    def grant(self, *names: str) -> None:
        """Allow these as well."""
        self._change(self._allowed | set(names))

    def revoke(self, *names: str) -> None:
        """Allow these no longer. Where everything is allowed, `*` is what can be revoked."""
        self._change(self._allowed - set(names))

    def set_role(self, role: str) -> None:
        """Allow what the role allows, and nothing else. Raises `CallerError` for an unknown one."""
        if role not in self._roles:
            known = tuple(self._roles)
            hint = did_you_mean(role, known) or f"roles: {', '.join(known) or 'none'}"
            raise CallerError(f"there is no role '{role}' in this policy", hint=hint)
        self.role = role
        self._change(set(self._roles[role]))

    def on_change(self, listener: Listener) -> Callable[[], None]:
        """Call `listener(policy)` after each change; gives what ends this."""
        self._listeners.append(listener)

        def end() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return end

    def _change(self, allowed: set[str]) -> None:
        if allowed == self._allowed:
            return
        self._allowed = allowed
        for listener in tuple(self._listeners):
            listener(self)
