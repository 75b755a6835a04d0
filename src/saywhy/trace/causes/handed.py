"""From an answer of a model to what it was handed: each piece of its request becomes a cause.

Pieces of the system prompt with the instructions that put them there, the messages with whose they
are, the results of tools with the rules about them, what was offered, what was left out. What the
request held is read by `request`; the loop's own counters and copies never show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from saywhy.chart.commit import Commit
from saywhy.errors import CallerError
from saywhy.models.provider import CHAT
from saywhy.trace.causes import handed_wording as words
from saywhy.trace.causes.carried import RUN, carried_out
from saywhy.trace.causes.chain import Cause
from saywhy.trace.causes.decided import OUTSIDE
from saywhy.trace.causes.graph import Effect
from saywhy.trace.causes.mapped import link_mapping
from saywhy.trace.causes.offers import STRICT_CALL, link_offer
from saywhy.trace.causes.own import model_behind
from saywhy.trace.causes.request import (
    INJECTED,
    Line,
    Piece,
    Request,
    Slot,
    old_line,
    pieces_in,
    request_of,
    slot_of,
)
from saywhy.trace.causes.signs import corrects, note_result
from saywhy.trace.causes.tongue import tongue
from saywhy.trace.causes.twins import twins_of
from saywhy.trace.handed import listed, mappings
from saywhy.trace.trace import Trace
from saywhy.values import Key, raw

if TYPE_CHECKING:
    from saywhy.trace.causes.search import Search

MOST_OLD: Final = 16
"""So many messages of earlier runs are followed one by one, the newest."""
MOST_RULES: Final = 12
MOST_ROUNDS: Final = 20
CARRIED_CALL: Final = "call"
"""The node of a carried call that asks for it."""
MOST_STEPS: Final = 200
"""Steps of one round that are looked through for a call made side by side with others."""


def is_chat(commit: Commit) -> bool:
    """Whether a step took in the answer of an agent's model."""
    answered = commit.answered
    return answered is not None and (answered.kind, answered.name) == ("model", CHAT)


def model_of_answer(trace: Trace, key: Key, writer: Commit) -> Commit | None:
    """The model's answer that a loop gave as its own."""
    return model_behind(trace, (key[0], "parsedResponse"), writer.seq)


def put_in(search: Search, cause: int, answered: Commit, asked: Commit | None) -> None:
    """Link an answer of a model to everything it was handed."""
    if asked is None:
        search.mark(cause, "what the model was handed is not recorded")
        return
    request = request_of(search.trace, asked)
    _Handed(search, cause, answered, request).all()


class _Handed:
    """One answer and its request, while they are linked."""

    def __init__(self, search: Search, cause: int, answered: Commit, request: Request) -> None:
        self.search = search
        self.trace = search.trace
        self.effect = Effect(cause, "handed")
        self.answered = answered
        self.request = request
        base = next((one.text for one in request.prompt if one.source == "base"), "")
        self.spoken = tongue(base)

    def all(self) -> None:
        """Everything, in the order in which the model reads it."""
        self._receipt()
        self._prompt()
        self._messages()
        self._tools()
        self._left_out()
        self._unreadable()

    def _receipt(self) -> None:
        receipt = self.request.receipt
        root = receipt.get("root") if receipt else None
        if root:
            cause = self.search.of(self.effect.cause)
            cause.details = (*cause.details, f"receipt {receipt_name(str(root))}")

    def _unreadable(self) -> None:
        request = self.request
        if not request.lines and not request.prompt:
            self.search.mark(self.effect.cause, "what the model was handed is not recorded")

    # ------------------------------------------------------------ prompt

    def _prompt(self) -> None:
        judged = self._judged()
        ids = [str(one) for one in raw(judged.facts.get("prompts")) or ()] if judged else []
        verdicts = _log(judged)
        shown: set[str] = set()
        for piece in self.request.prompt:
            name = ids.pop(0) if piece.source == "instructions" and ids else ""
            shown.add(name)
            self._piece(piece, name, verdicts.get(name), judged)
        if judged is not None:
            others = [one for name, one in verdicts.items() if name not in shown]
            for verdict in others[:MOST_RULES]:
                self._rule(judged, verdict)
        if self.request.prompt_by is not None:
            self._skipped(self.request.prompt_by, "the system prompt")

    def _judged(self) -> Commit | None:
        """The step that judged the instructions for this request."""
        key: Key = (self.request.scope, "promptInjections")
        before = self.request.asked.seq
        for _ in range(6):
            writer = self.trace.last_writer(key, before)
            if writer is None or "instructions" in writer.facts:
                return writer
            behind = [each for each in writer.reads if each[-1] == key[-1] and each != key]
            if not behind:
                return None
            key, before = behind[0], writer.seq
        return None

    def _piece(
        self,
        piece: Piece,
        name: str = "",
        verdict: Mapping[str, Any] | None = None,
        judged: Commit | None = None,
    ) -> None:
        def follow(cause: int) -> None:
            if judged is not None and verdict is not None:
                self._looked_at(cause, judged, verdict)

        self.search.add(
            self.effect,
            ("piece", piece.commit.seq, str(piece.more.get("slot")), piece.number),
            lambda: words.odd_one_out(words.piece(piece, name, verdict), self.spoken),
            follow,
        )

    def _rule(self, judged: Commit, verdict: Mapping[str, Any]) -> None:
        self.search.add(
            self.effect,
            ("judged", judged.seq, verdict.get("id")),
            lambda: words.rule(judged, verdict, "to the model"),
            lambda cause: self._looked_at(cause, judged, verdict),
        )

    def _looked_at(self, cause: int, judged: Commit, verdict: Mapping[str, Any]) -> None:
        """What the condition of an instruction read, where the record has its writer."""
        paths = {str(raw(one)[0]) for one in raw(verdict.get("read")) or ()}
        for key in judged.reads:
            if ".".join(map(str, key[2:])) in paths or str(key[-1]) in paths:
                self.search.value(Effect(cause, "read", key), key, judged.seq)

    def _skipped(self, slot: Slot, where: str) -> None:
        for one in raw(slot.noted.get("skipped")) or ():
            name, why = (str(each) for each in raw(one))
            self.search.add(
                self.effect,
                ("skipped", slot.commit.seq, name),
                lambda name=name, why=why: words.skipped(slot.commit, name, why, where),
            )

    # ------------------------------------------------------------ messages

    def _messages(self) -> None:
        lines = self.request.lines
        old = [line for line in lines if line.old]
        if len(old) > MOST_OLD:
            more = len(old) - MOST_OLD
            identity = ("earlier", self.request.asked.frame, more)
            self.search.add(self.effect, identity, lambda: words.earlier(self.request, more))
            lines = [line for line in lines if not line.old or line in old[-MOST_OLD:]]
        for line in lines:
            self._line(line)

    def _line(self, line: Line) -> None:
        found = line
        if line.old:
            before = old_line(self.trace, line)
            if before is None:
                self._from_elsewhere(line)
                return
            found = before
        if found.role == "tool":
            link_result(self.search, self.effect, found)
        elif INJECTED in found.message:
            self._injected(found)
        elif found.role == "user":
            before = len(self.search.chain.causes)
            self._user(found)
            is_new = len(self.search.chain.causes) > before and line is not self.request.lines[0]
            if is_new and corrects(str(raw(found.message.get("content")))):
                self.search.sign(before, "corrects")
        elif found.role == "assistant" and line.old and found.message.get("content"):
            model = self._model_before(found)
            identity = ("answered before", model.seq if model is not None else id(found))
            self.search.add(self.effect, identity, lambda: words.said_before(found, model))

    def _model_before(self, line: Line) -> Commit | None:
        commit = line.commit
        if commit is None or is_chat(commit):
            return commit
        return model_behind(self.trace, (line.key[0], "parsedResponse"), commit.seq + 1)

    def _user(self, line: Line) -> None:
        commit = line.commit
        read = (
            next((each for each in commit.reads if each[-1] == "message"), None) if commit else None
        )
        if commit is None or read is None:
            self._from_elsewhere(line)
            return
        if not self.trace.wrote(read, commit.seq):
            self.search.add(self.effect, ("given", read), lambda: words.given(line))
            return
        self.search.value(Effect(self.effect.cause, "handed", read), read, commit.seq)

    def _from_elsewhere(self, line: Line) -> None:
        """A message that no step of this record said: a memory has it, or the host gave it."""
        if line.message.get("tool_calls"):
            return
        name = self._memory_name()
        identity = ("stored", line.commit.seq if line.commit else 0, str(line.message))
        self.search.add(self.effect, identity, lambda: words.stored(line, name))

    def _memory_name(self) -> str:
        key: Key = (self.request.scope, "conversationId")
        return str(self.trace.value_at(key, self.request.asked.seq).value or "history")

    def _injected(self, line: Line) -> None:
        source, _, name = str(line.message[INJECTED]).partition(":")
        commit = line.commit
        slot = slot_of(self.trace, line.key, commit.seq + 1) if commit is not None else None
        known = pieces_in(slot.commit, "messagesInjections") if slot is not None else []
        piece = next((one for one in known if (one.source, one.id) == (source, name)), None)
        text = str(raw(line.message.get("content")))
        at = slot.commit if slot is not None else commit or self.answered
        found = piece._replace(text=text) if piece is not None else None
        more = {"slot": "messages", "chunks": self._chunks(text) if source == "rag" else ()}
        self._piece(found or Piece(at, 0, text, source, "", name, more))

    def _chunks(self, text: str) -> list[str]:
        """The ids of what a retrieval found, where the text is made of it."""
        try:
            found: Any = raw(self.trace.value_at(self.trace.key("chunks")).value)
        except CallerError:
            return []
        chunks = [raw(one) for one in found] if isinstance(found, list) else []
        return [str(one.get("id")) for one in chunks if str(one.get("text") or "\0") in text]

    def _left_out(self) -> None:
        slot = self.request.messages_by
        if slot is None:
            return
        self._skipped(slot, "the messages")
        if not slot.noted.get("dropped"):
            slot = self._chosen_before(slot)
        if slot.noted.get("dropped"):
            self.search.add(
                self.effect,
                ("left out", slot.commit.seq),
                lambda: words.left_out(self.answered, slot.noted),
            )

    def _chosen_before(self, slot: Slot) -> Slot:
        """The slot in an earlier round of the run, where that left something out for all of it."""
        found = slot
        for _ in range(MOST_ROUNDS):
            if not found.noted.get("iteration"):
                return found
            earlier = slot_of(self.trace, (self.request.scope, "messagesSeen"), found.commit.seq)
            if earlier is None:
                return slot
            found = earlier
            if found.noted.get("dropped"):
                return found
        return slot

    # ------------------------------------------------------------ tools

    def _tools(self) -> None:
        request = self.request
        if not request.tools:
            return
        by = request.tools_by.seq if request.tools_by is not None else 0
        self.search.add(self.effect, ("tools", by), lambda: words.offered(request))
        tree: Any = raw(self.answered.answered.value) if self.answered.answered else None
        for call in mappings(tree.get("tool_calls")) if isinstance(tree, dict) else ():
            self._called(str(call.get("name")), by)

    def _called(self, name: str, by: int) -> None:
        request = self.request
        own = next((one for one in request.tools if one.get("name") == name), None)
        if own is None:
            return
        twins = twins_of(name, request.tools)
        for tool, twin in [
            (own, str(twins[0]["name"]) if twins else ""),
            *((t, name) for t in twins),
        ]:
            self.search.add(
                self.effect,
                ("tool", tool.get("name"), by),
                lambda tool=tool, twin=twin: words.declared(tool, request.tools_by, twin),
            )


def receipt_name(root: str) -> str:
    """The beginning of a receipt's fingerprint: enough to find it by."""
    return root[:12]


# ------------------------------------------------------------------ results of calls


def link_result(search: Search, effect: Effect, line: Line) -> None:
    """The result of a call, with the rules about it and the model's answer that wanted it."""
    trace, settled = search.trace, line.commit
    if settled is None:
        return
    call_id = str(line.message.get("tool_call_id"))
    model = model_behind(trace, (line.key[0], "parsedResponse"), settled.seq)
    name, args = _call(trace, settled, model, call_id, line.key)
    taken, of_flow = _taken(trace, settled, name, args, model)

    def follow(cause: int) -> None:
        if of_flow:
            search.carried_out(cause, settled)
        elif taken is not None:
            link_mapping(search, cause, taken)
            note_result(search, cause, taken)
        _rules(search, cause, settled, call_id, name)
        if model is not None and model.seq < settled.seq:
            search.answer(cause, model, "asked")
        elif model is None:
            link_offer(search, cause, settled, line.key[0])

    def make() -> Cause:
        return words.result(trace, line, taken, name, args, of_flow=of_flow)

    search.add(effect, ("result", settled.seq, call_id), make, follow)


def results_in(search: Search, cause: int, commit: Commit) -> None:
    """The results that a step of a round settled, for what it wrote besides messages."""
    for op in commit.ops:
        message = raw(op.value)
        if op.verb == "append" and isinstance(message, dict) and message.get("role") == "tool":
            line = Line(message, commit, op.key)
            link_result(search, Effect(cause, "read", op.key), line)


def settles(commit: Commit) -> bool:
    """Whether a step settled calls that a model wanted."""
    return "calls" in commit.facts


def _call(
    trace: Trace, settled: Commit, model: Commit | None, call_id: str, key: Key
) -> tuple[str, Any]:
    """The tool and the arguments of a call that a model wanted, or that was an offer taken up."""
    tree: Any = raw(model.answered.value) if model is not None and model.answered else None
    calls = mappings(tree.get("tool_calls")) if isinstance(tree, dict) else []
    taken_up = raw(trace.value_at((key[0], STRICT_CALL), settled.seq).value)
    offered = [taken_up] if isinstance(taken_up, dict) else []
    for call in (*calls, *offered):
        if str(call.get("id")) == call_id:
            return str(call.get("name")), raw(call.get("arguments"))
    for made in mappings(settled.facts.get("calls")):
        if str(made.get("callId")) == call_id:
            asked = settled.asked
            return str(made.get("tool")), raw(asked.args) if asked is not None else None
    return "", None


def _taken(
    trace: Trace, settled: Commit, name: str, args: Any, model: Commit | None
) -> tuple[Commit | None, bool]:
    """The step that took the tool's own answer in; whether a flow gave it instead."""
    answered = settled.answered
    if answered is not None and answered.kind in OUTSIDE:
        return settled, False
    last = carried_out(trace, settled)
    if last is not None:
        if last.kind == RUN:
            return last, True
        found = trace.newest(last.frame, CARRIED_CALL, last.seq + 1)
        return (found if found is not None and found.answered is not None else last), False
    return _side_by_side(trace, settled, name, args, model), False


def _side_by_side(
    trace: Trace, settled: Commit, name: str, args: Any, model: Commit | None
) -> Commit | None:
    """Of calls made side by side, the one of this name with these arguments."""
    first = max(model.seq if model is not None else 0, settled.seq - MOST_STEPS)
    for seq in range(settled.seq - 1, first, -1):
        if seq not in trace:
            return None
        commit = trace.commit(seq)
        answered = commit.answered
        if answered is None or answered.kind != "tool" or answered.name != name:
            continue
        asked = trace.newest(commit.frame, commit.node, commit.seq)
        if asked is None or asked.asked is None or raw(asked.asked.args) == args:
            return commit
    return None


def _rules(search: Search, cause: int, settled: Commit, call_id: str, tool: str) -> None:
    """The rules about a result: those that fired, those that did not, those taken away."""
    effect = Effect(cause, "handed")
    for told in mappings(settled.facts.get("instructions")):
        if str(told.get("callId")) != call_id or "log" not in told:
            continue
        texts = {str(one.get("id")): one.get("text") for one in mappings(told.get("fired"))}
        for verdict in mappings(told["log"])[:MOST_RULES]:
            name = str(verdict.get("id"))
            text = str(texts.get(name) or "")
            search.add(
                effect,
                ("rule", settled.seq, call_id, name, str(verdict.get("outcome"))),
                lambda verdict=verdict, text=text: words.rule(
                    settled, verdict, f"about {tool}", text
                ),
            )
    for made in mappings(settled.facts.get("calls")):
        if str(made.get("callId")) == call_id:
            for name in listed(made.get("suppressed")):
                search.add(
                    effect,
                    ("suppressed", settled.seq, name),
                    lambda name=name: words.suppressed(settled, str(name), tool),
                )


def _log(judged: Commit | None) -> dict[str, Mapping[str, Any]]:
    """The verdict about each instruction, by id."""
    entries: Sequence[Any] = raw(judged.facts.get("instructions")) or () if judged else ()
    return {str(raw(one).get("id")): raw(one) for one in entries}


__all__ = [
    "is_chat",
    "link_result",
    "model_of_answer",
    "put_in",
    "receipt_name",
    "results_in",
    "settles",
]
