"""Flows that nobody wrote and a model that says anything, each from a number, for the fuzz test."""

from __future__ import annotations

import json
import random
from typing import Any

from saywhy.models.provider import Ask, ModelReply

WORDS = ("red", "blue", "seven", "Ann Lee", "80", "12.50", "tomorrow", "yes", "no", "no idea")
MUMBLES = (
    "",
    "   ",
    "uhm",
    "...",
    "?",
    "é\u0301\U0001f600",
    "a" * 3000,
    "{{cargo}}",
    "<b>",
    "\x00",
)
COMMANDS = ("cancel flow", "help", "status", "switch", "continue", "cancelar flujo", "ayuda")
CORRECTIONS = (
    "no, the amount is {0}",
    "actually, {1} is {0}",
    "change {1} to {0}",
    "no, {0}",
    "el monto es {0}, no 50",
)


class Author:
    """Writes a library of flows that can all be run."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = [f"flow{number}" for number in range(self.random.randint(2, 4))]

    def flows(self) -> list[dict[str, Any]]:
        """The library: each flow may call those after it, so that none goes round for ever."""
        return [self._flow(index, name) for index, name in enumerate(self.names)]

    def _flow(self, index: int, name: str) -> dict[str, Any]:
        count = self.random.randint(2, 6)
        steps = [step for number in range(count) for step in self._steps(index, f"{name}s{number}")]
        flow: dict[str, Any] = {
            "id": name,
            "name": name.title(),
            "version": "1.0",
            "primary": index < 2 or self.random.random() < 0.5,
            "interruptable": self.random.random() < 0.5,
            "prompt": f"Do {name}",
            "prompt_es": f"Hacer {name}",
            "description": f"Does what {name} is for",
            "parameters": [{"name": "amount", "description": "how much"}],
            "variables": {"amount": {"type": "string", "description": "amount"}},
            "steps": [*steps, {"id": f"{name}end", "type": "SAY", "value": f"{name} is done."}],
        }
        if self.random.random() < 0.4:
            flow["corrections"] = True
        if self.random.random() < 0.2:
            flow["inactivity"] = 600_000
        return flow

    def _steps(self, index: int, step: str) -> list[dict[str, Any]]:
        kinds = [self._ask, self._ask, self._say, self._set, self._call, self._case, self._switch]
        kinds += [self._form, self._terminal]
        if index + 1 < len(self.names):
            kinds.append(self._flow_step)
        return self.random.choice(kinds)(index, step)

    def _ask(self, index: int, step: str) -> list[dict[str, Any]]:
        variable = self.random.choice(("amount", "color", "day"))
        asked: dict[str, Any] = {
            "id": step,
            "type": "SAY-GET",
            "variable": variable,
            "value": f"Which {variable}, after {{{{amount}}}}?",
            "value_es": f"¿Cuál {variable}?",
        }
        kind = self.random.randrange(6)
        if kind == 0:
            pattern = {"field": variable, "pattern": "^[^?]{2,}$", "message": "Too short."}
            asked["inputValidation"] = {"patterns": [pattern]}
        elif kind == 1:
            asked["digits"] = {"min": 1, "max": self.random.choice((1, 4))}
        elif kind == 2:
            asked["timeout"] = {"after": 30_000, "max": self.random.randint(0, 2)}
        elif kind == 3:
            asked["timeout"] = {"after": 30_000, "value": "none"}
        elif kind == 4:
            asked["pii"] = True
        return [asked]

    def _say(self, index: int, step: str) -> list[dict[str, Any]]:
        return [{"id": step, "type": "SAY", "value": "So far {{amount}} and {{typeof color}}."}]

    def _set(self, index: int, step: str) -> list[dict[str, Any]]:
        value = self.random.choice(("String(amount).length", "amount ? 'some' : 'none'", "1 + 1"))
        return [{"id": step, "type": "SET", "variable": "note", "value": value}]

    def _call(self, index: int, step: str) -> list[dict[str, Any]]:
        tool = self.random.choice(("look", "fail", "charge"))
        called: dict[str, Any] = {
            "id": step,
            "type": "CALL-TOOL",
            "tool": tool,
            "args": {"q": "{{amount}}"},
            "variable": "found",
        }
        if self.random.random() < 0.5:
            called["onFail"] = {"id": f"{step}f", "type": "SAY", "value": "That did not work."}
        return [called]

    def _case(self, index: int, step: str) -> list[dict[str, Any]]:
        first, other = self._plain(index, f"{step}a"), self._plain(index, f"{step}b")
        branches = {"condition: String(amount).length > 2": first, "default": other}
        return [{"id": step, "type": "CASE", "branches": branches}]

    def _switch(self, index: int, step: str) -> list[dict[str, Any]]:
        branches = {"80": self._plain(index, f"{step}a"), "default": self._plain(index, f"{step}b")}
        return [{"id": step, "type": "SWITCH", "variable": "amount", "branches": branches}]

    def _plain(self, index: int, step: str) -> dict[str, Any]:
        return self.random.choice((self._ask, self._say, self._set, self._call))(index, step)[0]

    def _form(self, index: int, step: str) -> list[dict[str, Any]]:
        inputs = [
            {"name": "sum", "kind": "amount", "prompt": "What sum?"},
            {"name": "who", "kind": "name", "prompt": "To whom?", "cues": ["to"]},
        ]
        form: dict[str, Any] = {"id": step, "type": "FORM", "variable": "form", "inputs": inputs}
        if self.random.random() < 0.6:
            form["review"] = "{{form.sum}} to {{form.who}}."
            form["confirm"] = "Is that right?"
        if self.random.random() < 0.5:
            args = {"q": "{{form.who}}"}
            form["submit"] = {"tool": "charge", "args": args, "variable": "receipt"}
        return [form]

    def _terminal(self, index: int, step: str) -> list[dict[str, Any]]:
        ends: dict[str, Any] = self.random.choice(
            (
                {"type": "END", "outcome": "resolved"},
                {"type": "RETURN", "value": "'Goodbye.'"},
                {"type": "DISPATCH"},
            )
        )
        then = {"id": f"{step}t", **ends}
        go_on = {"id": f"{step}g", "type": "SAY", "value": "Going on."}
        branches = {"condition: String(amount) === 'no'": then, "default": go_on}
        return [{"id": step, "type": "CASE", "branches": branches}]

    def _flow_step(self, index: int, step: str) -> list[dict[str, Any]]:
        target = self.random.choice(self.names[index + 1 :])
        kind = self.random.choice(("call", "call", "replace", "reboot"))
        return [{"id": step, "type": "FLOW", "value": target, "callType": kind}]


TOOLS: list[dict[str, Any]] = [
    {
        "id": name,
        "name": name.title(),
        "description": f"Does {name}",
        "effect": effect,
        "parameters": {"type": "object", "properties": {"q": {}}},
        "implementation": {"type": "local", "function": name},
    }
    for name, effect in (("look", "reads"), ("fail", "repeatable"), ("charge", "once"))
]


def functions() -> dict[str, Any]:
    """What the tools call."""

    async def look(args: dict[str, Any]) -> dict[str, Any]:
        return {"found": args["q"]}

    async def fail(args: dict[str, Any]) -> dict[str, Any]:
        raise ValueError("it does not work")

    async def charge(args: dict[str, Any]) -> dict[str, Any]:
        return {"id": "T-1"}

    return {"look": look, "fail": fail, "charge": charge}


class AnyModel:
    """Answers from a number: sense, nonsense, or an error; the same for the same questions."""

    def __init__(self, seed: int, names: list[str]) -> None:
        self.random = random.Random(seed)
        self.names = [*names, "None", "ghost"]

    async def ask(self, ask: Ask) -> ModelReply:
        """One of the things that models say."""
        kind = self.random.randrange(8)
        if kind == 0 and ask.task != "detect_flow":  # that one is the host's to hear of
            raise ConnectionError("the line is down")
        if kind == 1 and ask.task != "detect_flow":
            return ModelReply(self.random.choice(("", "{", "[1]", "I cannot say", "null")))
        name = self.random.choice(self.names)
        reply: dict[str, Any] = {
            "flowName": name,
            "parameters": {"amount": "80", "other": 1},
            "isStrongIntent": kind % 2 == 0,
            "targetFlow": name,
            "isCorrection": kind % 3 == 0,
            "variable": "amount",
            "value": "90",
        }
        is_words = ask.task in ("voice", "language")
        return ModelReply("cleaned words" if is_words else json.dumps(reply))
