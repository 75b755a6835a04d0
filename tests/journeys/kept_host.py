"""A program that answers messages with the trip's flows as its environment says; tests kill it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

from saywhy import Engine, SqliteStore

FOLDER = Path(os.environ["FILES"])
sys.path.insert(0, str(FOLDER))


async def main(messages: list[str]) -> None:
    import trip_host  # pyright: ignore[reportMissingImports]

    engine = Engine(
        flows=[str(FOLDER / "trip.flows.yaml"), str(FOLDER / "trip.tools.yaml")],
        functions={"price_of": trip_host.price_of, "take_money": trip_host.take_money},
        guidance={"enabled": False},
        validate_on_init=False,
        store=SqliteStore(os.environ["STORE"]),
        lease_seconds=1,
        **json.loads(os.environ["OPTIONS"]),
    )
    async with engine:
        for message in messages:
            message_id, text = message.split(":")
            reply = await engine.take_turn(
                "journey", text, message_id=message_id, user_id="ann", cargo={"bagPrice": 5}
            )
            print(json.dumps(reply.response))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
