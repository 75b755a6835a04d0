"""Scenario files: which scenarios stand in a file or folder, and what is wrong with them.

A file holds one scenario or a list of them, as JSON or YAML. A misspelt key would make a test
that cannot fail, so such keys are problems with a place. Playing them is left to `scenario`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from saywhy.errors import CallerError, DefinitionError, Place, Problem, did_you_mean
from saywhy.flows.load import read_document
from saywhy.flows.source import SourceMap, join
from saywhy.library.named import is_library
from saywhy.testing.scenario_agent import (
    AGENT_EXAMPLE,
    AGENT_KEYS,
    ScriptedAgent,
    problem_of,
)
from saywhy.testing.scenario_decision import WAYS, Decision, decision_of, faults_of
from saywhy.trace.words import brief
from saywhy.values import untagged

SUFFIXES: Final = (".json", ".yaml", ".yml")
SCENARIO_KEYS: Final = (
    *("id", "title", "covers", "basis", "quirk", "reference_bug", "why"),
    *("files", "flows", "tools", "functions", "standard_functions"),
    *("globals", "cargo", "language", "engine"),
    *("ai", "agents", "fallback_agent", "http", "record_headers", "turns"),
)
TURN_KEYS: Final = (
    *("role", "content", "timestamp", "metadata", "start", *WAYS),
    *("set_cargo", "authenticated", "wait_ms", "silence_ms", "roundtrip", "expect", "recorded"),
)
EXPECT_KEYS: Final = (
    *("response", "response_contains", "active_flow", "stack", "variables", "cargo", "error"),
    *("outcome", "form", "dispatch", "tool_calls", "http", "ai_calls", "approval", "unknown"),
)
ENGINE_KEYS: Final = (
    *("guidance", "messages", "ai_timeout_ms", "disable_commands", "intent_detection"),
    *("command_words", "offer_interruptions", "clarify"),
    "inactivity_ms",
)
ROLES: Final = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class Turn:
    """What a host sends, and what must come of it."""

    role: str
    content: Any
    expect: Mapping[str, Any]
    start: Any = None
    timestamp: Any = None
    metadata: Any = None
    set_cargo: Mapping[str, Any] = field(default_factory=dict[str, Any])
    authenticated: bool | None = None
    """What the host says of the user from this turn on; None: nothing new."""
    wait_ms: float = 0
    silence_ms: float = 0
    """How long the user says nothing: in place of words, what falls due meanwhile."""
    roundtrip: bool = False
    decision: Decision | None = None
    """What somebody decides about a call, in place of words."""
    places: Mapping[str, Place] = field(default_factory=dict[str, Place])
    """Where each key of `expect` stands, and the turn itself under the empty text."""

    def place_of(self, key: str) -> Place:
        """Where a key of `expect` stands, `variables.fee` too; the turn where it has none."""
        return self.places.get(key.partition(".")[0], self.places.get("", Place()))

    def headers(self) -> Iterator[str]:
        """Headers of requests that are expected: they have to be kept."""
        for request in self.expect.get("http") or ():
            named = request.get("headers") if isinstance(request, Mapping) else None
            yield from map(str, named if isinstance(named, Mapping) else ())

    def entry(self) -> dict[str, Any]:
        """What `Engine.update_activity` gets."""
        entry: dict[str, Any] = {"role": self.role, "content": self.content}
        optional = {"start": self.start, "timestamp": self.timestamp, "metadata": self.metadata}
        return entry | {name: value for name, value in optional.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Scenario:
    """A conversation with what must come of it."""

    id: str
    turns: tuple[Turn, ...]
    title: str = ""
    tags: tuple[str, ...] = ()
    quirk: str = ""
    """Why another answer than the one expected could be defended."""
    files: tuple[Path, ...] = ()
    """Files with flows and tools, beside those in the scenario itself."""
    flows: tuple[Any, ...] = ()
    tools: tuple[Any, ...] = ()
    functions: Mapping[str, Any] = field(default_factory=dict[str, Any])
    standard_functions: bool = False
    """Whether the library's functions for flows are there, beside those of the scenario."""
    globals: Mapping[str, Any] = field(default_factory=dict[str, Any])
    cargo: Mapping[str, Any] = field(default_factory=dict[str, Any])
    language: str | None = None
    engine: Mapping[str, Any] = field(default_factory=dict[str, Any])
    ai: Any = None
    agents: tuple[ScriptedAgent, ...] = ()
    fallback_agent: str | None = None
    http: tuple[Mapping[str, Any], ...] = ()
    record_headers: tuple[str, ...] = ()
    place: Place = field(default_factory=Place)


def load_scenario(path: str | Path) -> Scenario:
    """The one scenario of a file. Raises `DefinitionError`, with all that is wrong in it."""
    found = load_scenarios(path)
    if len(found) != 1:
        raise CallerError(f"{path} holds {len(found)} scenarios", hint="use load_scenarios")
    return found[0]


def load_scenarios(path: str | Path) -> list[Scenario]:
    """All scenarios of a file. Raises `DefinitionError`, with all that is wrong in it."""
    document_problems, items, source = _read(Path(path))
    problems = list(document_problems)
    if not problems and not items:
        hint = 'a scenario is an object with "turns"'
        problems.append(Problem("there is no scenario in this file", source.place(""), hint))
    scenarios = [_Reader(source, pointer, problems).scenario(item) for pointer, item in items]
    if problems:
        raise DefinitionError(problems)
    return [one for one in scenarios if one is not None]


def find_scenario_files(paths: Iterable[str | Path]) -> list[Path]:
    """The files to run: those named, and all scenario files below the folders named.

    In a folder, files that hold something else (flows, tools, globals) are passed over; a file
    that cannot be read stays in, so that it fails instead of being forgotten. Raises `CallerError`
    for a path that does not exist and for a folder without scenarios.
    """
    found: list[Path] = []
    for path in map(Path, paths):
        if _is_folder(path):
            inside = [each for each in sorted(_files_below(path)) if _may_hold_scenarios(each)]
            if not inside:
                raise CallerError(
                    f"there is no scenario below {path}",
                    hint='a scenario is a JSON or YAML file with "turns"',
                )
            found.extend(inside)
        elif path.exists():
            found.append(path)
        else:
            raise CallerError(f"there is no file or folder {path}", hint="check the path")
    return list(dict.fromkeys(found))


# ------------------------------------------------------------------ reading files


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError as error:  # a name that no file can have, say
        raise CallerError(f"{path} cannot be read: {error.strerror}") from error


def _files_below(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.suffix in SUFFIXES and not hidden and path.is_file():
            yield path


def _may_hold_scenarios(path: Path) -> bool:
    problems, items, _ = _read(path)
    return bool(problems or items)


def _read(path: Path) -> tuple[tuple[Problem, ...], list[tuple[str, Any]], SourceMap]:
    """What is wrong with the file as such, and its scenarios, each with its pointer."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a UTF-8 text"
        problem = Problem(f"cannot read this file: {reason.lower()}", Place(str(path)))
        return (problem,), [], SourceMap(str(path), "")
    document = read_document(text, str(path))
    value = document.value
    listed = list(enumerate(value)) if isinstance(value, list) else []
    items = [(join("", index), item) for index, item in listed] or [("", value)]
    return document.problems, items if _is_meant_as_scenarios(items) else [], document.source


def _is_meant_as_scenarios(items: list[tuple[str, Any]]) -> bool:
    """Whether a file was written as scenarios, if perhaps with `turns` misspelt in some of them.

    One that was and is passed over would be a test that cannot fail. Flow and tool files have
    neither `turns` nor definitions beside an id or a title.
    """
    objects = [item for _, item in items if isinstance(item, dict)]
    return any("turns" in item for item in objects) or any(
        not item.keys().isdisjoint(("flows", "tools"))
        and not item.keys().isdisjoint(("id", "title", "covers", "engine"))
        for item in objects
    )


def _is_path(item: Any) -> bool:
    return isinstance(item, str)


class _Reader:
    """Reads one scenario and notes what is wrong with it."""

    def __init__(self, source: SourceMap, pointer: str, problems: list[Problem]) -> None:
        self.source = source
        self.pointer = pointer
        self.problems = problems

    def scenario(self, item: Any) -> Scenario | None:
        if not isinstance(item, dict):
            self._problem("", "a scenario is an object", 'write {"flows": […], "turns": [{ … }]}')
            return None
        return self._scenario(cast("dict[str, Any]", item))

    def _scenario(self, item: dict[str, Any]) -> Scenario | None:
        before = len(self.problems)
        self._known(item, "", SCENARIO_KEYS, strict=False)
        engine = self._object(item, "engine", "/engine")
        self._known(engine, "/engine", ENGINE_KEYS)
        turns = self._turns(item.get("turns"))
        folder = Path(self.source.file).parent
        made = Scenario(
            id=str(item.get("id") or self._made_up_id()),
            turns=tuple(turns),
            title=str(item.get("title") or ""),
            tags=tuple(map(str, self._list(item, "covers", "/covers"))),
            quirk=str(item.get("quirk") or ""),
            files=tuple(
                Path(file) if is_library(file) else folder / file for file in self._files(item)
            ),
            flows=self._definitions(item, "flows"),
            tools=self._definitions(item, "tools"),
            functions=untagged(self._object(item, "functions", "/functions")),
            standard_functions=self._switch(item, "standard_functions", "/standard_functions"),
            globals=untagged(self._object(item, "globals", "/globals")),
            cargo=untagged(self._object(item, "cargo", "/cargo")),
            language=item.get("language"),
            engine=engine,
            ai=item.get("ai"),
            agents=tuple(self._agents(item)),
            fallback_agent=item.get("fallback_agent"),
            http=tuple(self._list(item, "http", "/http")),
            record_headers=tuple(self._list(item, "record_headers", "/record_headers")),
            place=self.source.place(self.pointer),
        )
        return made if len(self.problems) == before else None

    def _agents(self, item: dict[str, Any]) -> Iterator[ScriptedAgent]:
        for index, agent in enumerate(self._list(item, "agents", "/agents")):
            at = f"/agents/{index}"
            if not isinstance(agent, dict):
                self._problem(at, "an agent is an object", AGENT_EXAMPLE)
                continue
            given = cast("dict[str, Any]", agent)
            self._known(given, at, AGENT_KEYS)
            problem = problem_of(given)
            if problem:
                self._problem(at, problem, AGENT_EXAMPLE)
            else:
                yield ScriptedAgent.of(given)

    def _files(self, item: dict[str, Any]) -> list[str]:
        """Paths in `files`, and those that stand among the flows and tools themselves."""
        listed = [item.get(key) for key in ("files", "flows", "tools")]
        lists = [[one] if isinstance(one, str) else one for one in listed]
        return [file for one in lists if isinstance(one, list) for file in one if _is_path(file)]

    def _definitions(self, item: dict[str, Any], key: str) -> tuple[Any, ...]:
        """The definitions in `[…]` or `{"flows": […]}`, without the paths among them."""
        value = item.get(key)
        if isinstance(value, str):
            return ()
        inner = value.get(key) if isinstance(value, dict) else value
        listed = self._list({key: inner}, key, f"/{key}")
        return tuple(one for one in listed if not _is_path(one))

    def _made_up_id(self) -> str:
        return Path(self.source.file).stem + self.pointer.replace("/", "#")

    def _turns(self, turns: Any) -> Iterator[Turn]:
        if not isinstance(turns, list) or not turns:
            self._problem("/turns", "a scenario needs a list of turns", 'write "turns": [{ … }]')
            return
        for index, turn in enumerate(turns):
            at = f"/turns/{index}"
            if isinstance(turn, dict):
                yield self._turn(turn, at)
            else:
                self._problem(at, "a turn is an object", 'write {"role": "user", "content": …}')
        if not any(isinstance(turn, dict) and turn.get("expect") for turn in turns):
            hint = 'add "expect" to a turn: a scenario that expects nothing cannot fail'
            self._problem("/turns", "no turn of this scenario expects anything", hint)

    def _turn(self, turn: dict[str, Any], at: str) -> Turn:
        self._known(turn, at, TURN_KEYS)
        role = str(turn.get("role") or "user")
        if role not in ROLES and (hint := did_you_mean(role, ROLES)):
            self._problem(f"{at}/role", f'no turn has the role "{role}"', hint)
        expect = self._object(turn, "expect", f"{at}/expect")
        self._known(expect, f"{at}/expect", EXPECT_KEYS)
        return Turn(
            role=role,
            content=untagged(turn.get("content")),
            expect=untagged(expect),
            start=untagged(turn.get("start")),
            timestamp=turn.get("timestamp"),
            metadata=turn.get("metadata"),
            set_cargo=untagged(self._object(turn, "set_cargo", f"{at}/set_cargo")),
            authenticated=self._said(turn, "authenticated", f"{at}/authenticated"),
            wait_ms=self._pause(turn, "wait_ms", at),
            silence_ms=self._silence(turn, at),
            roundtrip=self._switch(turn, "roundtrip", f"{at}/roundtrip"),
            decision=self._decision(turn, at),
            places=self._places(expect, at),
        )

    def _places(self, expect: dict[str, Any], at: str) -> dict[str, Place]:
        inside = {
            key: self.source.key_place(self.pointer + join(f"{at}/expect", key)) for key in expect
        }
        return {"": self.source.place(self.pointer + at), **inside}

    def _decision(self, turn: dict[str, Any], at: str) -> Decision | None:
        faults = list(faults_of(turn))
        for pointer, message, hint in faults:
            self._problem(at + pointer, message, hint)
        return None if faults else decision_of(turn)

    def _known(
        self, item: dict[str, Any], at: str, known: tuple[str, ...], *, strict: bool = True
    ) -> None:
        """Report keys that nothing reads; not strict: only those that look misspelt."""
        for name in item:
            if name in known:
                continue
            hint = did_you_mean(name, known)
            if strict or hint:
                message = f'"{name}" is no key of a scenario here'
                self._problem(join(at, name), message, hint or f"known here: {', '.join(known)}")

    def _switch(self, item: dict[str, Any], name: str, at: str) -> bool:
        """True or false as such: a text counts as true whatever it says."""
        value = item.get(name)
        if value is not None and not isinstance(value, bool):
            hint = f'write "{name}": true, or leave it out'
            self._problem(at, f'"{name}" must be true or false, not {brief(value)}', hint)
        return value is True

    def _said(self, item: dict[str, Any], name: str, at: str) -> bool | None:
        """True, false, or nothing where it is left out."""
        return None if item.get(name) is None else self._switch(item, name, at)

    def _silence(self, turn: dict[str, Any], at: str) -> float:
        silence_ms = self._pause(turn, "silence_ms", at)
        said = [key for key in ("content", "start") if turn.get(key) is not None]
        if silence_ms and said:
            message = f'a turn of silence has no "{said[0]}"'
            self._problem(f"{at}/silence_ms", message, 'say it in a turn of its own, or "wait_ms"')
        return silence_ms

    def _pause(self, item: dict[str, Any], name: str, at: str) -> float:
        value = item.get(name) or 0
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            hint = f'write "{name}": 500 for half a second'
            message = f'"{name}" must be a number of milliseconds, not {brief(value)}'
            self._problem(f"{at}/{name}", message, hint)
            return 0
        return value

    def _object(self, item: dict[str, Any], name: str, at: str) -> dict[str, Any]:
        value = item.get(name)
        if value is None or isinstance(value, dict):
            return value or {}
        self._problem(at, f'"{name}" must be an object', f'write "{name}": {{ … }}')
        return {}

    def _list(self, item: dict[str, Any], name: str, at: str) -> list[Any]:
        value = item.get(name)
        if value is None or isinstance(value, list):
            return value or []
        self._problem(at, f'"{name}" must be a list', f'write "{name}": [ … ]')
        return []

    def _problem(self, at: str, message: str, hint: str) -> None:
        self.problems.append(Problem(message, self.source.key_place(self.pointer + at), hint))
