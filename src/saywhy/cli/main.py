"""The program `saywhy`: its commands, and how each run ends.

Exit codes: 0 all is well; 1 something was found or failed; 2 the command was used in a way that
makes no sense. A user's mistake gives one clear message, never a traceback.
"""

from __future__ import annotations

import errno
import sys
from typing import Annotated, Final

import typer

from saywhy.cli.agent import agent
from saywhy.cli.approvals import approvals
from saywhy.cli.audit import audit
from saywhy.cli.author_reference import author_reference
from saywhy.cli.chat import chat
from saywhy.cli.check import check
from saywhy.cli.demo.play import demo
from saywhy.cli.draw import draw
from saywhy.cli.export import export
from saywhy.cli.forget import forget
from saywhy.cli.functions import functions
from saywhy.cli.held import held
from saywhy.cli.mcp import mcp
from saywhy.cli.narrative import narrative
from saywhy.cli.output import make_streams_safe, say_error, unwritable
from saywhy.cli.prove import prove
from saywhy.cli.replay import replay
from saywhy.cli.start import INTERRUPTED
from saywhy.cli.store import store
from saywhy.cli.test import test
from saywhy.cli.tools.imports import tools
from saywhy.cli.unknown import unknown
from saywhy.cli.what_changed import what_changed
from saywhy.cli.why import why
from saywhy.cli.why_not import why_not
from saywhy.errors import SaywhyError

app = typer.Typer(
    name="saywhy",
    help="Conversations that must be right, and can say why.",
    no_args_is_help=True,
    add_completion=False,
    # Plain help texts: the library that colours them would take longer to load than all the rest.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def show_version(wanted: bool) -> None:
    """Write the version and end; nothing else is looked at."""
    if wanted:
        from importlib.metadata import version

        typer.echo(f"saywhy {version('saywhy')}")
        raise typer.Exit


@app.callback(no_args_is_help=True)
def program(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", is_eager=True, callback=show_version
        ),
    ] = False,
) -> None:
    """What may stand before a command."""


for command in (
    chat,
    agent,
    check,
    test,
    why,
    why_not,
    what_changed,
    narrative,
    draw,
    functions,
    author_reference,
    mcp,
    demo,
    forget,
    export,
    replay,
):
    app.command()(command)
app.add_typer(store, name="store")
app.add_typer(held, name="held")
app.add_typer(unknown, name="unknown")
app.add_typer(approvals, name="approvals")
app.add_typer(tools, name="tools")
app.add_typer(prove, name="prove")
app.add_typer(audit, name="audit")


FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""Why a file takes no more of what is written to it."""


def main(arguments: list[str] | None = None) -> int:
    """Run a command and give the exit code."""
    try:
        make_streams_safe()
        app(args=arguments, prog_name="saywhy")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except SaywhyError as error:
        return say_error(error)
    except OSError as error:  # help and version are written by others
        if error.errno not in FULL or error.filename is not None:
            raise
        return say_error(unwritable(sys.stdout, error))
    except KeyboardInterrupt:  # before a command began; what runs is told of it in its own way
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
