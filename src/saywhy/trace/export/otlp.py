"""Spans as JSON lines of OpenTelemetry's protocol: a file that collectors and viewers read.

Each line holds the spans of one turn or run, which is a trace of OpenTelemetry's. Its ids are made
from what is told, so the same record gives the same lines. Which spans there are is answered by
`spans`; sending them on while runs go on is `otel`'s business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, Final

from saywhy.chart.commit import Commit
from saywhy.trace.export.spans import Span, spans_of
from saywhy.values import dumps

NANOSECONDS: Final = 1_000_000
"""In a millisecond."""
SERVICE: Final = "saywhy"
_KINDS: Final = {"internal": 1, "client": 3}
_ERROR: Final = 2


def otlp_lines(
    record: Iterable[Commit],
    *,
    content: bool = False,
    conversation_id: str = "",
    service: str = SERVICE,
) -> Iterator[bytes]:
    """The lines of a record. With `content` they hold what was said, as far as it is not masked.

    `service` is the value of `service.name`.
    """
    for root, spans in _by_root(spans_of(record, content=content, conversation_id=conversation_id)):
        trace_id = _id(16, conversation_id, str(root.id), repr(root.start))
        told = [_span(span, trace_id) for span in spans]
        scope = {"scope": {"name": SERVICE}, "spans": told}
        resource = {"attributes": _attributes({"service.name": service})}
        yield dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}) + b"\n"


def _by_root(spans: Iterable[Span]) -> Iterator[tuple[Span, list[Span]]]:
    """Spans by the outermost one that they stand in; parents come before their children."""
    roots: dict[int, Span] = {}
    found: dict[int, list[Span]] = {}
    for span in spans:
        root = roots[span.id] = roots.get(span.parent, span)
        found.setdefault(root.id, []).append(span)
    for root_id, members in found.items():
        yield roots[root_id], members


def _span(span: Span, trace_id: str) -> dict[str, Any]:
    told: dict[str, Any] = {
        "traceId": trace_id,
        "spanId": _id(8, trace_id, str(span.id)),
        "name": span.name,
        "kind": _KINDS[span.kind],
        "startTimeUnixNano": _time(span.start),
        "endTimeUnixNano": _time(span.start if span.end is None else span.end),
        "attributes": _attributes(span.attributes),
    }
    if span.parent:
        told["parentSpanId"] = _id(8, trace_id, str(span.parent))
    if span.events:
        told["events"] = [
            {
                "timeUnixNano": _time(event.at),
                "name": event.name,
                "attributes": _attributes(event.attributes),
            }
            for event in span.events
        ]
    if span.error:
        told["status"] = {"code": _ERROR}
    return told


def _attributes(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in attributes.items()]


def _value(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}  # 64 bits are a text in this format
        case float():
            return {"doubleValue": value}
        case list() | tuple():
            return {"arrayValue": {"values": [_value(one) for one in value]}}  # pyright: ignore[reportUnknownVariableType]
        case _:
            return {"stringValue": str(value)}


def _time(milliseconds: float) -> str:
    return str(int(milliseconds * NANOSECONDS))


def _id(size: int, *texts: str) -> str:
    data = "\0".join(texts).encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=size, person=b"saywhy-otlp").hexdigest()
