"""The shape in which a language's words stand here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Words(NamedTuple):
    """The words of the user's that are commands, in one language."""

    commands: Mapping[str, tuple[str, ...]]
    nouns: tuple[str, ...]
    """What a flow is called: a command next to one of these counts inside a sentence as well."""
    noun_may_lead: bool = True
    """Whether the noun may also stand before the command: "Vorgang abbrechen"."""
