"""`saywhy tools import`: definitions of tools out of an OpenAPI description or an MCP server.

What they become is answered by `tools.openapi` and `tools.mcp.describe`; here they are read, and
written to a file or to standard output, with the notes on standard error.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from saywhy.cli.output import STYLES, err, out
from saywhy.errors import CallerError, DefinitionError, OutsideError, Place, Problem

if TYPE_CHECKING:
    from saywhy.tools.mcp.server import McpServer

MAX_BYTES: Final = 50_000_000

OutOption = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="The file to write; else standard output."),
]
ForceFlag = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]

tools = typer.Typer(
    help="Make tool files out of what others describe.", no_args_is_help=True, rich_markup_mode=None
)
imports = typer.Typer(
    help="Write tools that an API or a server describes as a tool file.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
tools.add_typer(imports, name="import")


@tools.callback()
def about() -> None:
    """Make tool files out of what others describe."""


@imports.callback()
def about_imports() -> None:
    """Write tools that an API or a server describes as a tool file."""


@imports.command()
def openapi(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="An OpenAPI description, JSON or YAML.")
    ],
    out: OutOption = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="An operation or a tag; can be repeated."),
    ] = None,
    base: Annotated[
        str, typer.Option("--base", metavar="URL", help="Address in place of the server's.")
    ] = "",
    force: ForceFlag = False,
) -> None:
    """Write the operations of an OpenAPI description as HTTP tools.

    Versions 3.0 and 3.1. What a tool cannot express is listed on standard error, with what to fill
    in. The exit code is 1 when nothing could be imported.
    """
    from saywhy.tools.openapi.operations import import_openapi

    place = Place(str(file))
    found = import_openapi(_description(file), only=only or (), base=base, place=place)
    for one in found:
        _write_notes(f"{one.operation} ({one.id})", one.notes)
    definitions = [one.definition for one in found if one.definition is not None]
    if not definitions:
        problem = Problem("there is no operation to import", place, "see the notes above")
        raise DefinitionError([problem])
    write_tools(definitions, out, force=force)


def _description(file: Path) -> Any:
    """What the file holds. Raises `DefinitionError` for one that cannot be read."""
    from saywhy.flows.load import read_document

    try:
        size = file.stat().st_size
        text = file.read_bytes().decode("utf-8-sig") if size <= MAX_BYTES else ""
    except (OSError, UnicodeDecodeError) as error:
        reason = (getattr(error, "strerror", None) or "not a UTF-8 text").lower()
        problem = Problem(f"cannot read this file: {reason}", Place(str(file)), "check the path")
        raise DefinitionError([problem]) from error
    if size > MAX_BYTES:
        message = f"larger than {MAX_BYTES // 1_000_000} MB"
        raise DefinitionError([Problem(message, Place(str(file)), "is this a description?")])
    document = read_document(text, str(file))
    if document.problems:
        raise DefinitionError(document.problems)
    return document.value


@imports.command(context_settings={"allow_interspersed_args": False})
def mcp(
    server: Annotated[
        list[str],
        typer.Argument(metavar="COMMAND|URL", help="A program with its arguments, or an address."),
    ],
    out: OutOption = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="TOOL", help="One of the tools; can be repeated."),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option("--env", metavar="NAME=VALUE", help="A variable for the program."),
    ] = None,
    inherit: Annotated[
        list[str] | None,
        typer.Option("--inherit", metavar="NAME", help="A variable of yours that is handed on."),
    ] = None,
    cwd: Annotated[
        str, typer.Option("--cwd", metavar="DIR", help="The folder the program runs in.")
    ] = "",
    header: Annotated[
        list[str] | None,
        typer.Option("--header", metavar="NAME:VALUE", help="A header for the address."),
    ] = None,
    force: ForceFlag = False,
) -> None:
    """Write the tools of an MCP server as tools.

    Options stand before the command. The server is asked once; flows that use its tools can be
    checked without it from then on.
    """
    import asyncio

    from saywhy.tools.mcp.describe import describe_tool
    from saywhy.tools.mcp.server import without_secrets

    described = _server(server, env or (), inherit or (), cwd, header or ())
    listed = asyncio.run(_listed(described))
    names = [str(tool["name"]) for tool in listed]
    for name in only or ():
        if name not in names:
            raise CallerError(f"the server has no tool {name}", hint=f"it has: {_some(names)}")
    written, notes = without_secrets(described)
    found = [describe_tool(one, written) for one in listed if not only or one["name"] in only]
    if not found:
        raise CallerError(f"{described.label} has no tools", hint="is it the right server?")
    _write_notes(described.label, notes)
    for one in found:
        _write_notes(one.id, one.notes)
    write_tools([one.definition for one in found], out, force=force)


def _server(
    given: Sequence[str],
    env: Sequence[str],
    inherit: Sequence[str],
    cwd: str,
    headers: Sequence[str],
) -> McpServer:
    """The server that the words on the command line are about."""
    from saywhy.tools.mcp.server import McpServer

    variables, lines = _pairs(env, "=", "--env"), _pairs(headers, ":", "--header")
    if not given[0].startswith(("http://", "https://")):
        if lines:
            raise CallerError("a program gets no headers", hint="--env gives it variables")
        return McpServer(command=tuple(given), env=variables, inherit=tuple(inherit), cwd=cwd)
    if len(given) > 1:
        raise CallerError("an address has no arguments", hint="put options before it")
    if variables or inherit or cwd:
        raise CallerError("an address gets no variables", hint="--header gives it headers")
    return McpServer(url=given[0], headers=lines)


def _pairs(given: Sequence[str], mark: str, option: str) -> tuple[tuple[str, str], ...]:
    pairs = [text.partition(mark) for text in given]
    for name, found, _ in pairs:
        if not found or not name.strip():
            raise CallerError(f"{option} takes NAME{mark}VALUE, not {name!r}")
    return tuple((name.strip(), value.strip()) for name, _, value in pairs)


async def _listed(server: McpServer) -> list[dict[str, Any]]:
    """The tools of the server as JSON. Raises `OutsideError` where it cannot be asked."""
    from saywhy.clock import SystemClock
    from saywhy.tools.http.client import HttpClient
    from saywhy.tools.http.settings import HttpSettings
    from saywhy.tools.mcp.connection import require_sdk
    from saywhy.tools.mcp.trouble import McpTrouble

    require_sdk()
    http = HttpClient(HttpSettings(allow_private=True))  # the user named the address
    try:
        connection = await http.mcp.connection(server, SystemClock())
        return connection.described()
    except McpTrouble as trouble:
        raise OutsideError(trouble.message, hint=trouble.hint) from None
    finally:
        await http.close()


def _write_notes(title: str, notes: Sequence[str]) -> None:
    for note in notes:
        err().line(f"{title}: {note}", STYLES["note"])


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (" …" if len(names) > 10 else "")


def write_tools(definitions: Sequence[dict[str, Any]], path: Path | None, *, force: bool) -> None:
    """Write a tool file. Raises `CallerError` for one that is there already."""
    from saywhy.trace.words import count

    text = json.dumps({"tools": definitions}, indent=2, ensure_ascii=False)
    if path is None:
        out().line(text)
        return
    if path.exists() and not force:
        raise CallerError(f"{path} is there already", hint="--force writes over it")
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        problem = f"cannot write this file: {(error.strerror or 'no reason is known').lower()}"
        raise DefinitionError([Problem(problem, Place(str(path)), "check the path")]) from error
    err().line(f"{count(len(definitions), 'tool')} written to {path}")
