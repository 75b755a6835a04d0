"""The record of a conversation in the forms that other programs read.

`trace` is a file to be asked why elsewhere, `otel` are spans as JSON lines, `mermaid` is a picture
of the path taken, `json` everything in one document. All show what the record holds: what is masked
there is masked here. Bundles that can be verified are `runtime.audit`'s business.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal, TypeAlias, get_args

from saywhy.errors import CallerError
from saywhy.trace.export.file import lines_of
from saywhy.trace.export.otlp import otlp_lines
from saywhy.trace.trace import Trace
from saywhy.values import dumps

ExportFormat: TypeAlias = Literal["trace", "otel", "mermaid", "json"]
FORMATS: Final[tuple[ExportFormat, ...]] = get_args(ExportFormat)
VERSION: Final = 1
"""Of the document in `json`."""


def exported(
    trace: Trace,
    format: ExportFormat = "trace",
    *,
    conversation_id: str = "",
    turn: int | None = None,
    content: bool = False,
) -> Iterator[bytes]:
    """A record in one of the formats, piece by piece.

    With `turn` a picture or a document is of that turn alone. `content` is for `otel`: spans then
    hold what was said. Raises `CallerError` for a format that there is none of.
    """
    match format:
        case "trace":
            return lines_of(trace, conversation_id)
        case "otel":
            return otlp_lines(trace, content=content, conversation_id=conversation_id)
        case "mermaid":
            return iter((_picture(trace, turn),))
        case "json":
            return iter((dumps(document(trace, conversation_id, turn)) + b"\n",))
        case _:
            raise CallerError(f"a record is written as {', '.join(FORMATS)}, not as {format!r}")


def _picture(trace: Trace, turn: int | None) -> bytes:
    from saywhy.runtime.picture import picture_of

    return picture_of(trace, turn).encode()


def document(trace: Trace, conversation_id: str = "", turn: int | None = None) -> dict[str, Any]:
    """Everything that is recorded of a conversation or of one turn, for `dumps`."""
    turns = trace.turns if turn is None else [turn]
    told = [trace.turn(number) for number in turns]
    used = {commit.chart for one in told for commit in one.commits}
    return {
        "saywhy": "record",
        "format": VERSION,
        "conversation": conversation_id,
        "charts": [chart for chart in trace.charts if chart.digest in used],
        "transactions": trace.transactions() if turn is None else [],
        "turns": [
            {"turn": one.number, "messages": one.messages, "commits": one.commits} for one in told
        ],
    }
