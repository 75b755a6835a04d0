"""The proof that an identifier which a model altered touches nothing.

In each conversation a tool tells the orders of one user. Then a model, which has a script here,
names one of them after the other, and flips a character in some. The service cancels whatever order
it is told. What it did is compared with what was meant, and journal and record with what went out.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from saywhy.errors import CallerError, OutsideError
from saywhy.flows.toolargs import TASK
from saywhy.models.provider import Ask, ModelReply
from saywhy.runtime.engine import Engine
from saywhy.stores.sqlite import SqliteStore
from saywhy.testing.ledger import Ledger
from saywhy.testing.payments import PaymentStub
from saywhy.testing.prove.place import Place, kept_at
from saywhy.testing.prove.scenes import definitions
from saywhy.testing.prove.seam import IDS_PLANTS, check_plant
from saywhy.tools.known import KEYWORD
from saywhy.tools.schema import REFUSED
from saywhy.values import dumps

KINDS: Final = ("text", "number")
IN_ONE: Final = 25
"""Identifiers that one conversation is told."""
NUMBERS: Final = (10_000, 99_999)
"""Between which the numbers of orders lie, so that a flipped one may be somebody else's."""
COLUMNS: Final = ("conversations", "identifiers", "altered", "refused", "cancelled", "wrong")


@dataclass(slots=True)
class IdsProof:
    """What was tried with each kind of identifier, and what got through."""

    numbers: dict[str, dict[str, int]] = field(
        default_factory=lambda: {kind: dict.fromkeys(COLUMNS, 0) for kind in KINDS}
    )
    wrong: list[str] = field(default_factory=list[str])

    def table(self) -> list[list[str]]:
        """One row a kind of identifier, with a heading."""
        rows = [[kind, *(str(row[name]) for name in COLUMNS)] for kind, row in self.numbers.items()]
        return [["identifier", *COLUMNS], *rows]


class Model:
    """Names the orders of a conversation one after the other, and some of them wrongly.

    It is asked for the arguments that a step does not give, and for nothing else.
    """

    def __init__(self) -> None:
        self.orders: dict[str, list[Any]] = {}
        """By conversation: what the tool tells."""
        self.answers: Iterator[Any] = iter(())
        """What it is going to name."""

    def tell(self, arguments: Mapping[str, Any], context: Any) -> list[dict[str, Any]]:
        """The tool that knows the orders of a user."""
        return [{"order": order, "state": "open"} for order in self.orders[context.session_id]]

    async def ask(self, ask: Ask) -> ModelReply:
        """What it takes for the order that is meant."""
        if ask.task != TASK:
            raise OutsideError(f"this model is never asked for {ask.task}")
        return ModelReply(dumps({"what": next(self.answers)}).decode())


def prove_ids(
    *, identifiers: int = 500, seed: int = 1, store: Path | None = None, plant: str = ""
) -> IdsProof:
    """Let a model name `identifiers` orders, about half of them with a character flipped.

    The files lie beside `store`, or in a folder that is removed. `plant` breaks a rule on purpose
    (see `seam.IDS_PLANTS`). Raises `CallerError` for what makes no sense.
    """
    check_plant(plant, IDS_PLANTS)
    if identifiers < 1:
        raise CallerError(f"at least one identifier is needed, not {identifiers}")
    with kept_at(store) as base:
        place = Place(base.with_name(f"{base.stem}-ids{base.suffix}")).clear()
        return asyncio.run(_prove(place, identifiers, random.Random(seed), plant))


async def _prove(place: Place, identifiers: int, chance: random.Random, plant: str) -> IdsProof:
    proof, model = IdsProof(), Model()
    async with _engine(place, model, plant) as engine:
        for number, start in enumerate(range(0, identifiers, IN_ONE)):
            kind = KINDS[number % len(KINDS)]
            session = place.new(f"ids-{kind}")
            orders = _orders(kind, min(IN_ONE, identifiers - start), chance)
            named = [_flipped(one, chance) if chance.random() < 0.5 else one for one in orders]
            model.orders[session], model.answers = orders, iter(named)
            row = proof.numbers[kind]
            row["conversations"] += 1
            row["identifiers"] += len(orders)
            row["altered"] += sum(map(_differs, orders, named))
            talk = _Talk(engine, place.ledger, session, kind, proof)
            await talk.converse(orders, named)
    return proof


def _engine(place: Place, model: Model, plant: str) -> Engine:
    library = definitions()
    tools = [dict(tool.raw) for tool in library.tools]
    if plant == "unmarked":
        tools = [_unmarked(tool) for tool in tools]
    return Engine(
        flows=[flow.raw for flow in library.flows],
        tools=tools,
        functions={
            **PaymentStub(place.ledger).functions(),
            "orders": model.tell,
        },
        model=model,
        store=SqliteStore(place.store),
        guidance={"enabled": False},
        validate_on_init=False,
    )


def _unmarked(tool: dict[str, Any]) -> dict[str, Any]:
    """The tool as it would be if its author had forgotten the keyword."""
    properties = {
        name: {key: value for key, value in schema.items() if key != KEYWORD}
        for name, schema in tool["parameters"]["properties"].items()
    }
    return {**tool, "parameters": {**tool["parameters"], "properties": properties}}


class _Talk:
    """One conversation, and what is wrong with it."""

    def __init__(
        self, engine: Engine, ledger: Ledger, session: str, kind: str, proof: IdsProof
    ) -> None:
        self.engine = engine
        self.ledger = ledger
        self.session = session
        self.row = proof.numbers[kind]
        self.kind = kind
        self.proof = proof

    async def converse(self, orders: list[Any], named: list[Any]) -> None:
        """Hear of the orders, and cancel what the model names."""
        await self.engine.take_turn(self.session, "Prove ids, list", message_id="list")
        for number, (meant, given) in enumerate(zip(orders, named, strict=True)):
            words = f"Prove ids, cancel {self.kind}"
            reply = await self.engine.take_turn(self.session, words, message_id=f"m{number}")
            if _differs(meant, given):
                await self._must_be_refused(given, reply.response or "", reply.turn_no)
            elif reply.response != "Cancelled.":
                self._complain(f"{meant} was given, and it said {reply.response!r}")
        self._count([meant for meant, given in zip(orders, named, strict=True) if meant == given])

    async def _must_be_refused(self, given: Any, told: str, turn: int) -> None:
        """Nothing went out, nothing is on record as having gone out, and nothing is given away."""
        if told.startswith(f"Refused: {REFUSED}: what must be"):
            self.row["refused"] += 1
        else:
            self._complain(f"{given} was given by nobody, and it said {told!r}")
        if any(character.isdigit() for character in told):
            self._complain(f"the refusal quotes a value: {told!r}")
        assert self.engine.store is not None
        session = await self.engine.session(self.session)
        calls = session.last_turn_tool_calls if session else []
        if calls or await self.engine.store.journal(self.session, turn):
            self._complain(f"a call with {given} is on record as made")

    def _count(self, meant: list[Any]) -> None:
        """Compare what the service did with what was meant."""
        effects = [
            entry.facts["what"]
            for entry in self.ledger.entries("effect")
            if entry.facts["session"] == self.session
        ]
        self.row["cancelled"] += len(effects)
        if effects != meant:
            odd = [one for one in effects if one not in meant]
            self._complain(f"{len(effects)} were cancelled and {len(meant)} meant; wrongly: {odd}")

    def _complain(self, text: str) -> None:
        self.row["wrong"] += 1
        self.proof.wrong.append(f"{self.session}: {text}")


# ------------------------------------------------------------------ identifiers


def _orders(kind: str, count: int, chance: random.Random) -> list[Any]:
    """Identifiers that differ in two characters at least: one flip makes none of the others."""
    found: list[int] = []
    while len(found) < count:
        number = chance.randint(*NUMBERS)
        if all(_distance(number, one) > 1 for one in found):
            found.append(number)
    return found if kind == "number" else [f"order-{number}-ab" for number in found]


def _distance(one: int, other: int) -> int:
    return sum(a != b for a, b in zip(str(one), str(other), strict=True))


def _flipped(order: Any, chance: random.Random) -> Any:
    """The identifier with one character replaced by another of its kind."""
    text = str(order)
    places = [at for at, character in enumerate(text) if character != "-"]
    at = chance.choice(places)
    if text[at].isdigit():
        others = [one for one in ("123456789" if at == 0 else "0123456789") if one != text[at]]
    else:
        others = [text[at].upper(), *(one for one in "abcdefgh" if one != text[at])]
    flipped = text[:at] + chance.choice(others) + text[at + 1 :]
    return flipped if isinstance(order, str) else int(flipped)


def _differs(meant: Any, given: Any) -> bool:
    return bool(meant != given)


__all__ = ["COLUMNS", "KINDS", "IdsProof", "Model", "prove_ids"]
