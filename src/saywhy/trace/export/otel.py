"""Spans sent on to OpenTelemetry, while runs go on or afterwards.

Which spans there are is answered by `spans`. This is the one place that imports OpenTelemetry, and
only its API: which exporter there is, and whether there is one, is the host's affair. Nothing that
it raises reaches a run.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from saywhy.chart.commit import Commit
from saywhy.errors import CallerError
from saywhy.trace.export.spans import Span, SpanEvent, Spans, Watcher
from saywhy.trace.loops import Loops

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer, TracerProvider

MOST_CONVERSATIONS: Final = 10_000
"""Conversations whose open loops are known from one turn to the next."""

NANOSECONDS: Final = 1_000_000
"""In a millisecond."""


class OpenTelemetry:
    """A recorder that sends spans: `Agent(…, recorders=[OpenTelemetry()])`, `engine.watch(…)`.

    Without a `tracer_provider` it is the one that is set for the process. Spans stand below the one
    that is current where the run was started. What was said and what tools were called with is only
    sent with `content=True`, and then as the record holds it, masked. `provider` is the value of
    `gen_ai.provider.name`: who serves the model, which no record says.
    """

    def __init__(
        self,
        tracer_provider: TracerProvider | None = None,
        *,
        content: bool = False,
        provider: str = "",
    ) -> None:
        self.tracer = _tracer(tracer_provider)
        self.content = content
        self.provider = provider
        self._open: OrderedDict[str, Loops] = OrderedDict()

    def watch_run(self, conversation_id: str = "", before: Iterable[Commit] = ()) -> Sending:
        """What takes the commits of one run or turn. `before` are those of its earlier part."""
        loops = self._loops(conversation_id)
        for commit in before:
            loops.take(commit)
        sender = _Sender(self.tracer)
        spans = Spans(
            sender,
            content=self.content,
            conversation_id=conversation_id,
            provider=self.provider,
            loops=loops,
        )
        return Sending(spans)

    def send(self, record: Iterable[Commit], *, conversation_id: str = "") -> None:
        """Send the spans of a record, with the times they had."""
        sending = Sending(
            Spans(
                _Sender(self.tracer),
                content=self.content,
                conversation_id=conversation_id,
                provider=self.provider,
            )
        )
        for commit in record:
            sending(commit)
        sending.close()

    def _loops(self, conversation_id: str) -> Loops:
        if not conversation_id:
            return Loops()
        loops = self._open.pop(conversation_id, None) or Loops()
        self._open[conversation_id] = loops
        if len(self._open) > MOST_CONVERSATIONS:
            self._open.popitem(last=False)
        return loops


class Sending:
    """A listener for the commits of one run. What goes wrong in it is logged, and ends it."""

    def __init__(self, spans: Spans) -> None:
        self._spans: Spans | None = spans

    def __call__(self, commit: Commit) -> None:
        """The next step."""
        if self._spans is None:
            return
        try:
            self._spans.take(commit)
        except Exception:
            self._give_up()

    def close(self) -> None:
        """The run is over, or rests."""
        if self._spans is None:
            return
        try:
            self._spans.close()
        except Exception:
            self._give_up()

    def _give_up(self) -> None:
        self._spans = None
        _LOG.exception("no more spans of this run are sent; the run goes on")


class _Sender(Watcher):
    """Sends spans as they begin and end."""

    def __init__(self, tracer: Tracer) -> None:
        super().__init__()
        self.tracer = tracer
        self._sent: dict[int, Any] = {}

    def begun(self, span: Span) -> None:
        """Begin one, below its parent or below what is current."""
        from opentelemetry.trace import SpanKind, set_span_in_context

        parent = self._sent.get(span.parent)
        self._sent[span.id] = self.tracer.start_span(
            span.name,
            context=None if parent is None else set_span_in_context(parent),
            kind=SpanKind.CLIENT if span.kind == "client" else SpanKind.INTERNAL,
            attributes=span.attributes,
            start_time=_nanoseconds(span.start),
        )

    def happened(self, span: Span, event: SpanEvent) -> None:
        """Add an event."""
        self._sent[span.id].add_event(event.name, event.attributes, _nanoseconds(event.at))

    def ended(self, span: Span) -> None:
        """End one. No text of an error is sent: it may say what was said."""
        from opentelemetry.trace import StatusCode

        sent = self._sent.pop(span.id)
        sent.set_attributes(span.attributes)
        if span.error:
            sent.set_status(StatusCode.ERROR)
        sent.end(_nanoseconds(span.start if span.end is None else span.end))


def is_set_up() -> bool:
    """Whether spans go anywhere: a provider was set for the process. Else they are dropped."""
    _tracer(None)  # says what to install
    from opentelemetry.trace import NoOpTracerProvider, ProxyTracerProvider, get_tracer_provider

    return not isinstance(get_tracer_provider(), NoOpTracerProvider | ProxyTracerProvider)


def _nanoseconds(milliseconds: float) -> int:
    return int(milliseconds * NANOSECONDS)


def _tracer(provider: TracerProvider | None) -> Tracer:
    try:
        from opentelemetry.trace import get_tracer
    except ImportError as error:
        raise CallerError(
            "spans cannot be sent: OpenTelemetry is not installed",
            hint='pip install "saywhy[otel]"',
        ) from error
    return get_tracer("saywhy", tracer_provider=provider)


_LOG: Final = logging.getLogger("saywhy")
