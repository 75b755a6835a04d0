"""Universal commands: the words that cancel, explain or show a flow, in each language.

spec: flow-engine 5.7
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from saywhy.chart.cursor import Cursor, Frame
from saywhy.chart.model import Charts
from saywhy.flows.frames import MAX_TRANSACTIONS
from saywhy.flows.guidance import is_financial
from saywhy.flows.world import World

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


def detect(text: str, language: str, enabled: Collection[str]) -> str | None:
    """The command that `text` is, or None. A sentence counts when it names the flow as well."""
    lowered = text.strip().lower()
    words = WORDS.get(language, WORDS["en"])
    for command in ORDER:
        if command in enabled and _says(lowered, words[command]):
            return command
    return None


def _says(text: str, synonyms: Collection[str]) -> bool:
    return any(text == word or any(f"{word} {noun}" in text for noun in NOUNS) for word in synonyms)


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
    secrets = flow.state.get("session", "secrets") or ()
    hidden = {str(secret) for secret in secrets}
    lines: list[str] = []
    for name, value in flow.state.scopes.get(top.scope, {}).items():
        plain = isinstance(value, str | int | float | bool)
        if not plain or str(value) in hidden or _is_sensitive(name):
            continue
        lines.append(f"• {name}: {value}")
    return lines[:MAX_TRANSACTIONS]


def _is_sensitive(name: str) -> bool:
    lowered = name.lower()
    return any(word in lowered for word in ("password", "secret", "token", "pin", "cvv"))


def _root(flow: Cursor) -> Frame:
    return flow.frames[0]
