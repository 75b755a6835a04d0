"""Taking a step over from the run before a correction, instead of running it again.

A step is as good as it was while everything it read is what it was when it ran: the variables, and
which step wrote them. Then its results are put in place and nothing is said, asked or called. What
does not pass is run by its own rules. Which steps there are to take over is settled by `rewind`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from saywhy.chart.commit import Decision
from saywhy.chart.model import Node
from saywhy.chart.outcome import Answer, Goto, Outcome
from saywhy.chart.scope import Scope
from saywhy.flows import answers
from saywhy.flows.corrections import recording
from saywhy.flows.corrections.entries import ENDED, Entry, Read, Root
from saywhy.flows.corrections.log import Log, owner_of, path_of, same_at, value_written
from saywhy.flows.speech import language_of, queue_text, say_phrase
from saywhy.flows.validation import first_problem, reask
from saywhy.flows.world import World
from saywhy.values import UNDEFINED


class Recall:
    """What a step may take over, and whether it may."""

    def __init__(self, scope: Scope, log: Log) -> None:
        self.scope = scope
        self.log = log
        self.memo = log.remembered()
        self.known = log.known()

    def parts(self, entry: Entry) -> list[Entry]:
        """The step with what it wrote before it rested, in order."""
        same_step = [one for one in self.memo if one.path == entry.path and one.node == entry.node]
        return [one for one in same_step if one.kind == recording.PART] + [entry]

    def inside(self, entry: Entry) -> list[Entry]:
        """The steps of the flow that a FLOW step called, those of flows called from there too."""
        path = f"{entry.path}>{entry.node}"
        return [one for one in self.memo if one.path == path or one.path.startswith(f"{path}>")]

    def is_same(self, reads: Iterable[Read], within: frozenset[int] = frozenset()) -> bool:
        """Whether what was read is what it was. `within` are steps taken over along with it."""
        return all(read.writer in within or self._is_same(read) for read in reads)

    def _is_same(self, read: Read) -> bool:
        key = read.key
        if key[0] == "input":
            kept = self.scope.kept("input")
            return bool(kept) and str(kept[1]) == str(key[1])
        if len(key) < 2:
            return self._cargo_is_same()
        root: Root = (str(key[0]), str(key[1]))
        if self.log.stamp(root) == read.writer:
            return True
        earlier = value_written(read.writer, root, self.known, self.log.first)
        return earlier is not None and same_at(earlier, key[2:], self.scope.peek(root))

    def _cargo_is_same(self) -> bool:
        """All of cargo was read: the same as long as no step that wrote to it is run again."""
        trees = [Entry.of(tree) for tree in self.log.memo]
        return not any(write.root[0] == "cargo" for one in trees for write in one.writes)


def take_up(world: World, node: Node, scope: Scope) -> Outcome | None:
    """What a step of an earlier run leads to without being run; None: it has to run."""
    owner = owner_of(scope.cursor, scope.frame)
    log = Log.at(scope, owner)
    if not log.memo and not log.target:
        return None
    recall = Recall(scope, log)
    path = path_of(scope.frame)
    found = next(
        (
            one
            for one in recall.memo
            if (one.path, one.node, one.flow) == (path, node.id, scope.frame.name)
            and one.kind == node.kind
        ),
        None,
    )
    if found is None:
        return None
    if log.target.get("seq") == found.seq:
        return _take_correction(world, node, scope, log, found)
    if node.kind == "FLOW":
        return _take_flow(scope, recall, found)
    if not recall.is_same(found.reads):
        return _changed(world, scope, recall, found)
    if not recall.is_same(found.checks):
        return _check_again(world, node, scope, recall, found)
    return _kept(scope, recall.parts(found), found)


def _take_correction(world: World, node: Node, scope: Scope, log: Log, found: Entry) -> Outcome:
    """The corrected answer in place of the earlier one, checked as any answer to the question."""
    target = log.target
    log.target = {name: target[name] for name in ("back", "trial") if name in target}
    log.retire([one for one in log.remembered() if (one.path, one.node) == _place(scope, node)])
    log.save(scope, owner_of(scope.cursor, scope.frame))
    message = target["message"]
    scope.facts = {**scope.facts, "corrected": target["seq"], "message": message}
    if node.spec.get("digits") is not None:
        answers.offer_keypad(world, node, scope)  # what it wants tells what a spoken answer is
    scope.keep("pii", answers.is_sensitive(world, scope, node.spec.get("pii")))
    text = answers.shaped(world, node, scope, str(target["value"]))
    answers.take_input(scope, Answer(text, facts={"message": message}))
    scope.keep("seen", [[read.writer, *read.key] for read in found.reads])
    scope.keep("checked", [])
    scope.keep("lastAsk", node.id)
    variable = str(node.spec.get("variable") or "")
    if variable:
        scope.keep("lastVariable", variable)
    answers.store(scope, variable, text)
    problem = first_problem(world, node, scope) if "inputValidation" in node.spec else None
    if problem is not None:
        return reask(world, node, scope, problem)
    return Goto(node.next)


def _place(scope: Scope, node: Node) -> tuple[str, str]:
    return path_of(scope.frame), node.id


def _take_flow(scope: Scope, recall: Recall, found: Entry) -> Outcome | None:
    """A called flow that came to its end is taken over as one step, if nothing it read changed."""
    inside = recall.inside(found)
    has_target = any(one.seq == recall.log.target.get("seq") for one in inside)
    path = f"{found.path}>{found.node}"
    ended = next((one for one in inside if (one.path, one.node) == (path, ENDED)), None)
    if ended is None or has_target or _is_undone(recall.log, path):
        return None
    taken = [*recall.parts(found), *inside]
    within = frozenset(one.seq for one in taken)
    reads = [read for one in taken for read in (*one.reads, *one.checks)]
    outside = [read for read in reads if read.key[0] != "input"]
    if not recall.is_same(outside, within) or not recall.is_same(_own_input(found)):
        return None
    for name, value in ended.data.items():
        scope.keep(name, value)
    return _kept(scope, taken, found)


def _is_undone(log: Log, path: str) -> bool:
    """Whether an effect of a called flow was undone, so that it has to be made again."""
    return any(
        tree.get("undone") and (tree["path"] == path or tree["path"].startswith(f"{path}>"))
        for tree in log.memo
    )


def _own_input(found: Entry) -> Iterable[Read]:
    return (read for read in found.reads if read.key[0] == "input")


def _kept(scope: Scope, taken: list[Entry], found: Entry) -> Outcome:
    """Put the results of steps in place, as they were."""
    own = scope.frame.scope
    for one in taken:
        for write in one.writes:
            owner, name = write.root
            if owner not in ("cargo", own) and owner not in scope.state.scopes:
                continue  # the variables of a called flow that is over
            if write.gone:
                scope.delete(write.root)
            else:
                scope.set((owner, name), write.value)
    for name in recording.KEPT:
        if name in found.data:
            scope.keep(name, found.data[name])
    scope.reads.extend(dict.fromkeys(read.key for read in (*found.reads, *found.checks)))
    scope.facts = {**scope.facts, "kept": found.seq}
    if found.kind == "SAY-GET" and found.data.get("input"):
        scope.facts["message"] = found.data["input"][1]
    if found.chosen:
        scope.decision = Decision(found.chosen, default=found.chosen == "default")
    recording.keep(scope, taken)
    return Goto(found.to)


def _check_again(
    world: World, node: Node, scope: Scope, recall: Recall, found: Entry
) -> Outcome | None:
    """The answer to an unchanged question stays, but what its check looks at has changed."""
    if node.kind != "SAY-GET":
        return None
    outcome = _kept(scope, recall.parts(found), found)
    problem = first_problem(world, node, scope)
    return outcome if problem is None else reask(world, node, scope, problem)


def _changed(world: World, scope: Scope, recall: Recall, found: Entry) -> Outcome | None:
    """The step must run again, unless that would act on the world a second time."""
    if found.effect is None or recall.log.target.get("trial"):
        recall.log.retire(recall.parts(found))
        recall.log.save(scope, owner_of(scope.cursor, scope.frame))
        return None
    told = say_phrase(
        world, scope, "correction_kept", language_of(world, scope), toolName=found.effect.tool
    )
    queue_text(world, scope, told)
    scope.warn(
        f"{found.effect.tool} was called with values that a correction has changed since; it was "
        "not foreseen and is not called again"
    )
    return _kept(scope, recall.parts(found), found)


def value_of(entry: Entry, variable: str) -> Any:
    """What a step wrote into a variable of its flow; `UNDEFINED` for nothing."""
    for write in entry.writes:
        if write.root[1] == variable and write.root[0] != "cargo":
            return write.value
    return UNDEFINED
