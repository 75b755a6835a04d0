"""`saywhy prove`: disturbs real processes and compares what is left with what should be."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from saywhy.cli.output import Screen, err, out

MAX_SHOWN: Final = 20
"""Broken rules that are written out; the rest are counted."""

MAX_LINE: Final = 400

prove = typer.Typer(
    help="Prove on this machine what is promised.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

KeptOption = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="FILE",
        help="Keep the stores and ledgers beside this file; else they are removed.",
    ),
]
PlantOption = Annotated[
    str,
    typer.Option("--plant", metavar="FAULT", help="Break a rule on purpose: it must be found."),
]


@prove.callback()
def about() -> None:
    """Prove on this machine what is promised."""


@prove.command()
def effects(
    seeds: Annotated[int, typer.Option("--seeds", min=0, help="Rounds of random kills.")] = 3,
    kills: Annotated[int, typer.Option("--kills", min=0, help="Random kills in a round.")] = 200,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0, help="How long the crash loop goes on.")
    ] = 60.0,
    boundaries: Annotated[
        bool, typer.Option(help="Also kill on each side of every commit and act.")
    ] = True,
    scenes: Annotated[
        list[str] | None,
        typer.Option("--scene", metavar="NAME", help="Only this scene; may be repeated."),
    ] = None,
    seed: Annotated[int, typer.Option("--first-seed", help="The seed of the first round.")] = 1,
    store: KeptOption = None,
    plant: PlantOption = "",
) -> None:
    """Kill processes in the midst of conversations with every class of effect.

    A table tells what was accepted, ended and lost, called and repeated, unknown and settled. The
    exit code is 1 when a rule was broken. Faults to plant: repeat-once, forget-result, ask-again,
    new-key, forget-turn, leave-unknown.
    """
    from saywhy.testing.prove.effects import prove_effects

    screen = out()
    proof = prove_effects(
        seeds=seeds,
        kills=kills,
        loop_seconds=seconds,
        boundaries=boundaries,
        scenes=scenes or (),
        store=store,
        plant=plant,
        first_seed=seed,
        tell=err().line,
    )
    _write_table(screen, proof.verdict.table())
    screen.line()
    screen.line(f"{sum(proof.kills.values())} processes were killed")
    if proof.progress:
        screen.line(f"messages that ended in each part of the crash loop: {proof.progress}")
    _end(screen, proof.verdict.wrong)


@prove.command()
def order(
    clients: Annotated[int, typer.Option("--clients", min=1, help="Who sends messages.")] = 10,
    copies: Annotated[int, typer.Option("--copies", min=1, help="Of each message.")] = 3,
    messages: Annotated[int, typer.Option("--messages", min=1, help="Of each client.")] = 5,
    seed: Annotated[int, typer.Option("--seed", help="Which copy goes to which process.")] = 1,
    store: KeptOption = None,
    plant: PlantOption = "",
) -> None:
    """Let two processes race for one conversation, each message coming in several copies.

    Each message must be processed once, in order. The exit code is 1 when a rule was broken. The
    fault to plant: new-ids.
    """
    from saywhy.testing.prove.order import prove_order

    screen = out()
    proof = prove_order(
        clients=clients, copies=copies, messages=messages, seed=seed, store=store, plant=plant
    )
    _write_table(screen, proof.table())
    screen.line()
    _end(screen, proof.wrong)


@prove.command()
def approval(
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Of each attack.")] = 10,
    seed: Annotated[int, typer.Option("--seed", help="What is paid in each round.")] = 1,
    store: KeptOption = None,
    plant: PlantOption = "",
) -> None:
    """Replay, duplicate, tamper with and outlive approvals of calls.

    A service counts what took effect; it must be what was approved. The exit code is 1 when
    something got through. The fault to plant: careless.
    """
    from saywhy.testing.prove.approval import prove_approval

    screen = out()
    proof = prove_approval(rounds=rounds, seed=seed, store=store, plant=plant)
    _write_table(screen, proof.table())
    screen.line()
    _end(screen, proof.wrong)


@prove.command()
def ids(
    identifiers: Annotated[int, typer.Option("--identifiers", min=1, help="That are named.")] = 500,
    seed: Annotated[int, typer.Option("--seed", help="Which are altered, and how.")] = 1,
    store: KeptOption = None,
    plant: PlantOption = "",
) -> None:
    """Let a model name orders to a tool, and flip a character in about half of them.

    A service counts what was cancelled; it must be what was given before, and nothing else. The
    exit code is 1 when something got through. The fault to plant: unmarked.
    """
    from saywhy.testing.prove.ids import prove_ids

    screen = out()
    proof = prove_ids(identifiers=identifiers, seed=seed, store=store, plant=plant)
    _write_table(screen, proof.table())
    screen.line()
    _end(screen, proof.wrong)


def _write_table(screen: Screen, rows: Sequence[Sequence[str]]) -> None:
    """Columns side by side, numbers to the right; the first row is the heading."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    right = [all(row[i].isdigit() for row in rows[1:]) for i in range(len(widths))]
    for number, row in enumerate(rows):
        cells = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ]
        screen.line("  ".join(cells).rstrip(), "" if number else "bold")


def _end(screen: Screen, wrong: Sequence[str]) -> None:
    for problem in wrong[:MAX_SHOWN]:
        screen.line(problem[:MAX_LINE], "bold red")
    if len(wrong) > MAX_SHOWN:
        screen.line(f"and {len(wrong) - MAX_SHOWN} more")
    screen.line("the proof holds" if not wrong else "the proof does not hold")
    raise typer.Exit(1 if wrong else 0)
