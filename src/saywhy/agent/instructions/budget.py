"""How much the instructions after one result may say.

Only behavioural texts are ever left out, the least important ones first. Actions stay, because they
carry identifiers, and so does everything said for safety, even where that alone is too long.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import Final

import msgspec

from saywhy.agent.instructions.judge import Verdict, dropped
from saywhy.agent.instructions.render import (
    GAP,
    InstructionTemplate,
    action_of,
    parts_of,
    text_of,
)
from saywhy.agent.instructions.rule import ResolvedInstruction

CHARACTERS_PER_TOKEN: Final = 4


def estimated_tokens(text: str | None) -> int:
    """A rough count, four characters a token; 0 for no text."""
    return ceil(len(text or "") / CHARACTERS_PER_TOKEN)


def within_budget(
    fired: Iterable[ResolvedInstruction],
    tokens: int,
    template: InstructionTemplate | None = None,
) -> tuple[list[ResolvedInstruction], list[Verdict]]:
    """The rules with the texts that fit into `tokens`, and a line about each text that does not.

    A text that is too long does not keep shorter ones after it from being shown. Of the blank lines
    between the parts each counts with the part after it.
    """
    rules = list(fired)
    left = tokens * CHARACTERS_PER_TOKEN - sum(_fixed_size(one, template) for one in rules)
    kept: list[ResolvedInstruction] = []
    log: list[Verdict] = []
    for one in rules:
        if one.safety or not one.text:
            kept.append(one)
            continue
        size = len(GAP) + len(text_of(one.text, template))
        if size <= left:
            left -= size
            kept.append(one)
            continue
        kept.append(msgspec.structs.replace(one, text=None))
        log.append(dropped(one.id, "text", f"over the instruction budget of {tokens} tokens"))
    return kept, log


def _fixed_size(one: ResolvedInstruction, template: InstructionTemplate | None) -> int:
    """Characters that are shown whatever the budget is."""
    if one.safety:
        return sum(len(GAP) + len(part) for part in parts_of(one, template))
    if one.resolved_follow_up is None:
        return 0
    return len(GAP) + len(action_of(one.resolved_follow_up, template))
