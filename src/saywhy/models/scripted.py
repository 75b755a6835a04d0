"""A model whose answers are written down beforehand: for tests, examples and demos."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from saywhy.clock import Clock, SystemClock
from saywhy.errors import CallerError, OutsideError
from saywhy.models.provider import Ask, ModelReply
from saywhy.values import dumps, freeze

KEYS: Final = frozenset({"for", "reply", "raise", "delay_ms"})
_EXAMPLE: Final = '[{"for": "detect_flow", "reply": {"flowName": "Pay", "parameters": {}}}]'


class ScriptedModel:
    """Answers from a script; keeps what it was asked in `asked`.

    The script is a list of `{"for": task, "reply": text or object}`, or with `"raise": message`,
    and perhaps `"delay_ms"`. Each question takes the first entry nobody took yet whose `for` is its
    task, or that has none; an object is given as JSON text. Where none is left it raises
    `OutsideError`, as a model would that cannot be reached.
    """

    def __init__(self, script: Sequence[Mapping[str, Any]], clock: Clock | None = None) -> None:
        if isinstance(script, Mapping | str):
            kind = type(script).__name__
            raise CallerError(f"the model's script is a list, not {kind}", hint=_EXAMPLE)
        self._left: Final = [_checked(number, entry) for number, entry in enumerate(script)]
        self._clock: Final = clock or SystemClock()
        self.asked: Final[list[Ask]] = []

    @property
    def tasks(self) -> list[str]:
        """The tasks of all questions so far, in order."""
        return [ask.task for ask in self.asked]

    @property
    def left(self) -> int:
        """How many answers nobody has asked for yet."""
        return len(self._left)

    async def ask(self, ask: Ask) -> ModelReply:
        """The next answer for this task."""
        self.asked.append(ask)
        entry = next((one for one in self._left if one.get("for", ask.task) == ask.task), None)
        if entry is None:
            others = ", ".join(dict.fromkeys(str(one["for"]) for one in self._left))
            left = f"; those left are for {others}" if others else ""
            raise OutsideError(f"the script of the model has no answer left for {ask.task}{left}")
        self._left.remove(entry)
        if entry.get("delay_ms"):
            await self._clock.sleep(entry["delay_ms"] / 1000)
        if "raise" in entry:
            raise OutsideError(str(entry["raise"]))
        reply = entry["reply"]
        return ModelReply(reply if isinstance(reply, str) else dumps(freeze(reply)).decode())


def _checked(number: int, entry: Any) -> dict[str, Any]:
    """A copy of an entry. Raises `CallerError` for what can never be answered."""
    if not isinstance(entry, Mapping):
        kind = type(entry).__name__
        raise CallerError(
            f"entry {number} of the model's script is an object, not {kind}", hint=_EXAMPLE
        )
    known: dict[str, Any] = {str(key): value for key, value in entry.items()}
    unknown = sorted(known.keys() - KEYS)
    if unknown:
        raise CallerError(
            f'entry {number} of the model\'s script has an unknown key "{unknown[0]}"',
            hint=f"known: {', '.join(sorted(KEYS))}",
        )
    if ("reply" in known) == ("raise" in known):
        raise CallerError(
            f"entry {number} of the model's script needs either reply or raise",
            hint=_EXAMPLE,
        )
    return known
