"""Arguments and options that several commands share."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from saywhy.cli.output import err
from saywhy.errors import CallerError

STORE_FILE: Final = "saywhy.db"
"""Where `chat` keeps conversations unless it is told otherwise, in the current folder."""
STORE_VARIABLE: Final = "SAYWHY_STORE"


class Where(StrEnum):
    """The placements of expressions."""

    IN_PROCESS = "in-process"
    ISOLATED = "isolated"


Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILES", help="Files with flows and tools, JSON or YAML."),
]
FunctionsOption = Annotated[
    str | None,
    typer.Option(
        "--functions",
        metavar="MODULE:NAME",
        help="A dict of functions, or a module or class with functions.",
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="A language model: openai:NAME, anthropic:NAME, google:NAME, scripted:FILE.json, or "
        "FILE.py:NAME for a function that answers; 30 seconds for each answer.",
    ),
]
AgentsOption = Annotated[
    str | None,
    typer.Option(
        "--agents",
        metavar="FILE.py:NAME",
        help="The agents that flows call and that run flows: an Agent, a list or dict of them, "
        "or a function that makes them, of the `model` if it takes one.",
    ),
]
FallbackOption = Annotated[
    str | None,
    typer.Option(
        "--fallback-agent", metavar="NAME", help="The agent that answers what no flow fits."
    ),
]
GlobalsOption = Annotated[
    Path | None,
    typer.Option("--globals", metavar="FILE", help="Global variables, a JSON or YAML object."),
]
CargoOption = Annotated[
    Path | None,
    typer.Option("--cargo", metavar="FILE", help="Cargo of a new conversation, likewise."),
]
OutOption = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Where to write it; else standard output."),
]
SessionOption = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="Which conversation.")
]
StoreOption = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="FILE",
        help=f"Where conversations are kept; else ${STORE_VARIABLE}, else {STORE_FILE}.",
    ),
]
ExpressionsOption = Annotated[
    Where,
    typer.Option(
        "--expressions",
        help="Where expressions are evaluated: in the program, or isolated from it.",
    ),
]
PrivateOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-private",
        metavar="HOST",
        help="Let HTTP tools call this host though its address is private, like `localhost`.",
    ),
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Write JSON for other programs.")]


def check_is_text(option: str, value: str) -> None:
    """Raise `CallerError` for bytes that are no text: nobody can be called that."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise CallerError(f"{option} is no text: {value!r}", hint="write it in UTF-8") from error


def store_path(store: Path | None) -> Path:
    """The store that is meant: the option, else the environment variable, else the usual file."""
    return store or Path(os.environ.get(STORE_VARIABLE) or STORE_FILE)


def existing_store(store: Path | None) -> Path:
    """The store that is meant, for what changes it. Raises `CallerError` when there is none.

    A database of another program is none, and stays as it is: opened for writing it would get the
    tables of a store.
    """
    path = store_path(store)
    if not _is_there(path):
        raise CallerError(f"there is no store {path}", hint="--store names another file")
    from saywhy.stores.sqlite import check_is_store

    check_is_store(path)
    return path


def _is_there(path: Path) -> bool:
    """Whether there is such a file. Raises `CallerError` for a folder, and for what no file can be
    called."""
    try:
        if path.is_dir():
            hint = "name the file of the store: --store FILE"
            raise CallerError(f"{path} is a folder", hint=hint)
        return path.exists()
    except OSError as error:
        raise CallerError(f"the store {path} cannot be opened: {error.strerror}") from error


def demo_store() -> Path:
    """Where the demo keeps its conversation: among the user's throw-away files."""
    return Path(os.environ.get("XDG_CACHE_HOME") or _cache()) / "saywhy" / "demo.db"


def _cache() -> Path:
    try:
        return Path.home() / ".cache"
    except RuntimeError:  # a container's user has neither a home nor a name
        import tempfile

        return Path(tempfile.gettempdir())


def store_to_read(store: Path | None, *, demo: bool = True) -> Path:
    """The store that is meant; where nothing was said and nothing is here, that of the last demo.

    Not so with `demo=False`: what is checked or decided must be the user's own. Raises
    `CallerError` when there is no such file.
    """
    path = store_path(store)
    if _is_there(path):
        return path
    usual = demo and store is None and STORE_VARIABLE not in os.environ
    if usual and demo_store().exists():
        err().line(f"there is no {path} here: this is the last demo's conversation", "dim")
        return demo_store()
    hint = "saywhy chat FILES begins a conversation; --store names another file"
    raise CallerError(f"there is no store {path}", hint=hint)
