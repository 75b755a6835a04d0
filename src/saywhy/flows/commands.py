"""Universal commands: the words that cancel, explain or show a flow, in each language.

spec: flow-engine 5.7
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from typing import Any, Final

from saywhy.chart.cursor import Cursor, Frame
from saywhy.chart.model import Charts
from saywhy.expr.numbers import value_text
from saywhy.flows.guidance import is_financial
from saywhy.flows.world import World
from saywhy.trace.redact import Redactor
from saywhy.trace.sensitive import SensitiveNames

ORDER: Final = ("cancel", "help", "status", "switch", "continue")

WORDS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "en": {
        "cancel": (
            "cancel",
            "cancel flow",
            "cancel workflow",
            "abort flow",
            "stop flow",
            "exit flow",
            "quit flow",
            "end flow",
        ),
        "help": ("help", "?", "options", "commands"),
        "status": ("status", "where am i", "what flow", "current flow", "info"),
        "switch": ("switch", "change", "go to"),
        "continue": ("continue", "proceed", "keep going", "go on"),
    },
    "es": {
        "cancel": (
            "cancelar",
            "cancelar flujo",
            "cancelar workflow",
            "abortar flujo",
            "parar flujo",
            "salir flujo",
            "terminar flujo",
            "fin flujo",
        ),
        "help": ("ayuda", "?", "opciones", "comandos"),
        "status": ("estado", "donde estoy", "que flujo", "flujo actual", "info"),
        "switch": ("cambiar", "ir a", "cambio"),
        "continue": ("continuar", "proceder", "seguir", "continúa"),
    },
}
NOUNS: Final = ("flow", "workflow", "flujo")

SENSITIVE: Final = SensitiveNames(("pin", "cvv", "cvc", "otp"))
"""Variables that are not shown to whoever looks over the user's shoulder."""
MAX_LISTED: Final = 50


def detect(text: str, language: str, enabled: Collection[str]) -> str | None:
    """The command that `text` is, or None. A sentence counts when it names the flow as well."""
    lowered = text.strip().lower()
    words = WORDS.get(language, WORDS["en"])
    for command in ORDER:
        if command in enabled and _says(lowered, words[command]):
            return command
    return None


def _says(text: str, synonyms: tuple[str, ...]) -> bool:
    return text in synonyms or _with_noun(synonyms).search(text) is not None


@cache  # one pattern a command and language
def _with_noun(synonyms: tuple[str, ...]) -> re.Pattern[str]:
    """A synonym and a word for "flow" side by side, as whole words: no "cancel flowers"."""
    words, nouns = "|".join(map(re.escape, synonyms)), "|".join(NOUNS)
    return re.compile(rf"(?<![^\W_])(?:{words}) (?:{nouns})(?![^\W_])")


def help_text(world: World, charts: Charts, flow: Cursor, language: str) -> str:
    """What can be said now, and the question that is open."""
    name = _root(flow).name

    def say(phrase: str) -> str:
        return world.phrases.say(phrase, language, flowName=name)

    lines = [say("cmd_help_commands")]
    for command in ("cancel", "status", "help"):
        if command in world.options.commands:
            lines.append(say(f"cmd_help_{command}"))
    blocks = [say("cmd_help_title"), "\n".join(lines)]
    if is_financial(name):
        blocks.append(say("cmd_help_financial"))
    question = flow.top.data.get("question")
    if question:
        blocks += [f"{say('cmd_help_question')}\n{question}", say("cmd_help_instruction")]
    return "\n\n".join(blocks)


def status_text(world: World, charts: Charts, flow: Cursor, language: str) -> str:
    """Where the conversation stands. Sensitive values and globals are not listed."""
    top = flow.top

    def say(phrase: str, **values: Any) -> str:
        return world.phrases.say(phrase, language, **values)

    lines = [
        say("cmd_status_title"),
        say("cmd_status_flow", flowName=top.name),
        say("cmd_status_steps", count=steps_left(charts, top)),
        say("cmd_status_depth", count=len(flow.frames)),
        say("cmd_status_transaction", id=str(top.data.get("tx", ""))[:8]),
    ]
    collected = _collected(flow, top)
    if collected:
        lines += ["", say("cmd_status_collected"), *collected]
    return "\n".join(lines)


def steps_left(charts: Charts, frame: Frame) -> int:
    """Steps from where the frame stands to its end, along the straight way."""
    chart = charts.find(frame.chart)
    count, at = 0, frame.at
    while chart is not None and at is not None and count < len(chart.nodes):
        count += 1
        at = chart.nodes[at].next if at in chart.nodes else None
    return count


def _collected(flow: Cursor, top: Frame) -> list[str]:
    secrets = Redactor(secrets=flow.state.get("session", "secrets") or ())
    lines: list[str] = []
    for name, value in flow.state.scopes.get(top.scope, {}).items():
        if not isinstance(value, str | int | float) or name in SENSITIVE:
            continue
        text = value_text(value)
        if text and secrets.text(text) is text:
            lines.append(f"• {name}: {text}")
    return lines[:MAX_LISTED]


def _root(flow: Cursor) -> Frame:
    return flow.frames[0]
