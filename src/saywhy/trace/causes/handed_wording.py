"""How what a model was handed is put into words: prompts, rules, tools, results, what was left out.

Which of these there are is answered by `handed`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from saywhy.chart.commit import Answered, Commit
from saywhy.trace.causes.chain import Cause, Root
from saywhy.trace.causes.decided import word_of
from saywhy.trace.causes.request import Line, Piece, Request
from saywhy.trace.causes.tongue import tongue
from saywhy.trace.handed import listed, mappings
from saywhy.trace.trace import Trace
from saywhy.trace.words import brief, call_text, count, quoted
from saywhy.values import raw

MOST_NAMES: Final = 8
LONGEST: Final = 120

_RECALLED: Final = {"rag": "retrieval", "memory": "memory"}
"""Sources whose texts come from outside, and what they are called."""


def _at(commit: Commit | None) -> dict[str, Any]:
    return {} if commit is None else {"commit": commit.seq, "turn": commit.turn}


def chat_text(commit: Commit) -> str:
    """What a model answered: its words, and the calls it wanted."""
    answered = commit.answered
    assert answered is not None, "only a commit with an answer is asked for it"
    if answered.error:
        return f"the model gave no answer: {answered.error}"
    tree: Any = raw(answered.value)
    fields: Mapping[str, Any] = tree if isinstance(tree, dict) else {"content": tree}
    who = f"the model {fields['model']}" if fields.get("model") else "the model"
    calls = mappings(fields.get("tool_calls"))
    wanted = [call_text(str(one.get("name")), one.get("arguments")) for one in calls]
    text = fields.get("content")
    said = [f"answered {quoted(str(text), LONGEST)}"] if text or not wanted else []
    return f"{who} {' and '.join([*said, *([f'wanted {_listed(wanted)}'] if wanted else [])])}"


def _listed(names: Sequence[str]) -> str:
    more = [f"{len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else []
    return ", ".join([*names[:MOST_NAMES], *more])


# ------------------------------------------------------------------ prompt


def piece(found: Piece, named: str, verdict: Mapping[str, Any] | None) -> Cause:
    """One text of the system prompt, or a message that was put in."""
    what = _RECALLED.get(found.source, "")
    root: Root = "recalled" if what else "authored"
    where = "the system prompt" if found.more.get("slot") != "messages" else "the messages"
    name = named or found.id
    if found.source == "base":
        sentence, ref = f"{where}: {quoted(found.text, LONGEST)}", "slot:system-prompt"
    elif what:
        own = str(found.more.get("upstreamRef") or name or found.source)
        found = found._replace(more={"chunks": own.split(", "), **found.more})
        own = own.partition(", ")[0]
        sentence, ref = f"{what} {own} in {where}: {quoted(found.text, LONGEST)}", f"{what}:{own}"
    else:
        sentence = f'instruction "{name}" in {where}: {quoted(found.text, LONGEST)}'
        ref = f"instruction:{name}"
    sentence += _why_there(found, verdict)
    slot = "slot:messages" if found.more.get("slot") == "messages" else "slot:system-prompt"
    also = tuple(
        dict.fromkeys(
            each for each in (f"{what}:{name}" if what and name else "", slot) if each != ref
        )
    )
    cause = Cause(0, "handed", sentence, root, value=found.text, ref=ref, **_at(found.commit))
    chunks = [f"{what}:{each}" for each in found.more.get("chunks") or ()]
    cause.also = tuple(each for each in (*also, *chunks) if each)
    return cause


def odd_one_out(cause: Cause, spoken: str) -> Cause:
    """Note that a text is in another language than the prompt around it."""
    own = tongue(cause.value)
    if own and spoken and own != spoken:
        cause.signs = (*cause.signs, "in another language")
    return cause


def _why_there(found: Piece, verdict: Mapping[str, Any] | None) -> str:
    if verdict is not None:
        return f" ({verdict_text(verdict)})"
    score = found.more.get("retrievalScore")
    scored = f", score {brief(score)}" if score is not None else ""
    if found.source == "base":
        plain = found.reason in ("", "the agent's system prompt")
        return "" if plain else f" ({found.reason})"
    return f" ({found.reason}{scored})" if found.reason else ""


def verdict_text(verdict: Mapping[str, Any]) -> str:
    """Why a rule applies or does not: `its condition was false (step = "done")`."""
    seen = _seen(verdict.get("read"))
    match verdict.get("outcome"):
        case "fired":
            return f"it applies{seen}"
        case "raised":
            error = ": ".join(filter(None, (verdict.get("error_name"), verdict.get("error"))))
            then = "it applies all the same" if verdict.get("fired") else "it was skipped"
            return f"{then}, its condition raised {error}{seen}"
        case "dropped":
            part = str(verdict.get("part") or "rest").replace("_", "-")
            return f"its {part} was left out: {verdict.get('error')}"
        case _:
            return f"its condition was false{seen}"


def _seen(read: Any) -> str:
    found = [listed(one) for one in listed(read)]
    pairs = [one for one in found if len(one) == 2][:4]
    shown = ", ".join(f"{path} = {brief(value)}" for path, value in pairs)
    return f" ({shown})" if shown else ""


def rule(commit: Commit, verdict: Mapping[str, Any], about: str, text: str = "") -> Cause:
    """A rule that fired or did not, for a result or for the prompt."""
    name = str(verdict.get("id"))
    safety = "safety rule" if verdict.get("safety") else "instruction"
    did = "" if verdict.get("fired") or verdict.get("outcome") == "fired" else " said nothing"
    sentence = f'{safety} "{name}"{did} {about}: {verdict_text(verdict)}'
    if text:
        sentence += f", and says {quoted(text, LONGEST)}"
    cause = Cause(0, "handed", sentence, "authored", ref=f"instruction:{name}", **_at(commit))
    cause.value = text
    if verdict.get("outcome") in ("raised", "dropped"):
        cause.signs = ("went wrong",)
    elif did:
        cause.signs = ("safety silent",) if verdict.get("safety") else ("did not fire",)
    return cause


def suppressed(commit: Commit, name: str, tool: str) -> Cause:
    """A rule of a tool that this agent's overrides took away."""
    sentence = f'instruction "{name}" of tool {tool} is suppressed by an override of this agent'
    cause = Cause(0, "handed", sentence, "authored", ref=f"instruction:{name}", **_at(commit))
    cause.signs = ("suppressed",)
    return cause


def skipped(commit: Commit, name: str, why: str, slot: str) -> Cause:
    """An injection that was not put in."""
    sentence = skipped_text(name, why, slot)
    cause = Cause(0, "handed", sentence, "authored", ref=f"instruction:{name}", **_at(commit))
    cause.also, cause.signs = (f"memory:{name}", f"retrieval:{name}"), ("did not fire",)
    return cause


def skipped_text(name: str, why: str, slot: str) -> str:
    """`"hours" was not put into the system prompt: its condition was false`."""
    told = why.replace("-", " ").replace("predicate", "its condition was")
    return f'"{name}" was not put into {slot}: {told}'


# ------------------------------------------------------------------ messages and results


def result(
    trace: Trace, line: Line, taken: Commit | None, name: str, args: Any, *, of_flow: bool
) -> Cause:
    """What a call that the model wanted came to, as it was handed back."""
    settled = line.commit
    content = line.message.get("content")
    answered = taken.answered if taken is not None else None
    root: Root = "" if of_flow else "tool"
    if answered is not None and not of_flow:
        sentence = f"tool {call_text(name, args)}{word_of(trace, taken)} {gave(answered)}"  # type: ignore[arg-type]
    else:
        sentence = f"tool {call_text(name, args)} gave {quoted(str(content), LONGEST)}"
    kept = answered.value if answered is not None and not of_flow else content
    cause = Cause(0, "answer", sentence, root, value=kept, **_at(taken or settled))
    numbers = [one.seq for one in (taken, settled) if one is not None]
    cause.ref, *also = dict.fromkeys(f"tool_result:{number}" for number in numbers)
    cause.also = (*also, f"tool:{name}")
    return cause


def gave(answered: Answered) -> str:
    """What a call came to: `gave {"status": "late"}`, `failed: no such order`."""
    if answered.error:
        return f"failed: {answered.error}"
    value = raw(answered.value)
    bare = isinstance(value, dict) and set(value) == {"content"}
    return f"gave {brief(value['content'] if bare else value)}"


def said_before(line: Line, model: Commit | None) -> Cause:
    """What the model answered in an earlier run, still shown to it."""
    text = quoted(str(raw(line.message.get("content"))), LONGEST)
    by = model or line.commit
    ref = f"model:{by.seq if by is not None else 0}"
    return Cause(0, "answer", f"the model had answered {text}", "model", ref=ref, **_at(by))


def given(line: Line) -> Cause:
    """The words that a run was started with."""
    text = quoted(str(raw(line.message.get("content"))), LONGEST)
    cause = Cause(0, "answer", f"the user said {text}", "input", ref="input:message")
    cause.value = raw(line.message.get("content"))
    return cause


def earlier(request: Request, number: int) -> Cause:
    """Messages of the history that are not followed one by one."""
    sentence = f"{count(number, 'earlier message')} of the conversation, not followed one by one"
    return Cause(0, "handed", sentence, "input", ref="slot:messages", **_at(request.asked))


def stored(line: Line, named: str) -> Cause:
    """A message that was loaded from a memory."""
    who = {"user": "the user had said", "assistant": "the model had answered"}
    text = quoted(str(raw(line.message.get("content"))), LONGEST)
    sentence = f"{who.get(line.role, f'{line.role}:')} {text}, as memory {named} has it"
    cause = Cause(0, "handed", sentence, "recalled", ref=f"memory:{named}", **_at(line.commit))
    cause.also = ("slot:messages",)
    return cause


def left_out(answered: Commit, noted: Mapping[str, Any]) -> Cause:
    """That something of the conversation was not shown to the model."""
    number = int(noted.get("dropped") or 0)
    how = f" ({noted['ordering']})" if noted.get("ordering") else ""
    sentence = f"{count(number, 'message')} of the conversation left out of what it was shown{how}"
    cause = Cause(0, "handed", sentence, "authored", **_at(answered))
    cause.ref, cause.also = f"truncation:{answered.seq}", ("slot:messages",)
    shown = [str(one) for one in raw(noted.get("droppedSummaries")) or ()]
    cause.details = tuple(f"left out: {quoted(one)}" for one in shown[-3:])
    return cause


# ------------------------------------------------------------------ tools


def offered(request: Request) -> Cause:
    """Which tools the model could choose from."""
    names = [str(one.get("name")) for one in request.tools]
    sentence = f"it was offered {count(len(names), 'tool')}: {_listed(names)}"
    return Cause(0, "handed", sentence, "authored", ref="slot:tools", **_at(request.tools_by))


def declared(tool: Mapping[str, Any], by: Commit | None, twin: str = "") -> Cause:
    """A tool as the model was shown it."""
    name = str(tool.get("name"))
    text = quoted(str(tool.get("description") or ""), LONGEST)
    sentence = f"tool {name} is declared as {text}"
    cause = Cause(0, "handed", sentence, "authored", ref=f"tool:{name}", **_at(by))
    if twin:
        cause.details = (f"{TWIN} {twin}",)
        cause.signs = ("twin",)
    return cause


TWIN: Final = "its description is nearly that of"
