"""The kinds of mapping, one function each, and how one is found for a configuration.

Compiling never fails for what an author got wrong (only nesting without end does): a mapping of an
unknown kind gives the data back as it is, and `tools.check_mapping` says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from saywhy.errors import MappingError
from saywhy.tools.mapping.fallback import constant, fallback_of, literal
from saywhy.tools.mapping.fixed import Step, filled_text, fixed_text
from saywhy.tools.mapping.items import array
from saywhy.tools.mapping.numeric import Transform
from saywhy.tools.mapping.operators import Condition, condition_of, is_nothing
from saywhy.tools.mapping.paths import (
    BLOCKED,
    Path,
    PathProblem,
    filled,
    is_there,
    parse_path,
    reader_of,
    single_name,
    what_stands,
)
from saywhy.tools.mapping.run import Failed, Run, TooMuch, tree_of
from saywhy.tools.mapping.templates import template_of
from saywhy.tools.mapping.transforms import transform_of
from saywhy.values import UNDEFINED, freeze, raw

MAX_NESTING: Final = 50
"""How deep mappings may stand in mappings; a dotted output key counts as deep as it goes."""


class At(NamedTuple):
    """Where in the configuration something stands, and how strictly it is taken."""

    kind: str
    name: str = ""
    is_strict: bool = False
    depth: int = 0

    def inside(self, kind: str, *, is_strict: bool | None = None, name: str = "") -> At:
        """The place one level further in."""
        if self.depth >= MAX_NESTING:
            raise MappingError(f"mappings stand in each other deeper than {MAX_NESTING} levels")
        strict = self.is_strict if is_strict is None else is_strict
        return At(kind, name or self.name, strict, self.depth + 1)

    def named(self, name: str) -> At:
        """The place of one key of a mapping."""
        return At(self.kind, name, self.is_strict, self.depth)


KindOf: TypeAlias = Callable[[Mapping[str, Any], At], Step]


def step_of(config: Any, at: At) -> Step:
    """The mapping `config` as a function of the data."""
    if isinstance(config, str):
        return _path_step(config, at)
    tree = raw(config)
    if isinstance(tree, Mapping):
        kind = tree.get("type")
        make = KINDS.get(kind) if isinstance(kind, str) else None
        if make is not None:
            return make(tree, at.inside(str(kind), is_strict=tree.get("strict") is True))
        if isinstance(tree.get("path"), str) and kind in (None, "path"):
            return entry(tree, at.inside("path"))
    return _as_it_is


def _as_it_is(run: Run, data: Any) -> Any:
    return data


# ------------------------------------------------------------------ path, transform, fallback


def _path_step(text: str, at: At) -> Step:
    """The value at a path; a text with `{{…}}` is filled in instead."""
    if "{{" in text:
        return _careful(filled_text(text), at)
    path = _parsed(text)
    if path is None:
        return _no_path(text, at)
    read = reader_of(path)
    if not at.is_strict:
        return read

    def strict(run: Run, data: Any) -> Any:
        found = read(run, data)
        if is_nothing(found):
            _insist(run, data, path, at)
        return found

    return strict


def _parsed(text: str) -> Path | None:
    try:
        return parse_path(text)
    except PathProblem:
        return None


def _no_path(text: str, at: At) -> Step:
    def step(run: Run, data: Any) -> Any:
        if at.is_strict:
            raise _error(at, f'"{text}" is no path', path=text)
        return None

    return step


def _insist(run: Run, data: Any, path: Path, at: At) -> None:
    """Raises when nothing stands at the path; null is something."""
    tree = run.args if path.from_arguments else data
    keys = path.keys if path.is_fixed else filled(path.keys, run)
    if is_there(tree, keys):
        return
    found = what_stands(tree, keys)
    if path.from_arguments:
        found = found.replace("the answer", "$args")
    raise _error(at, f'nothing stands at "{path.text}"', path=path.text, found=found)


def _error(at: At, problem: str, *, path: str = "", found: str = "") -> MappingError:
    where = f'key "{at.name}": ' if at.name else ""
    return MappingError(where + problem, kind=at.kind, path=path, found=found, is_strict=True)


def _careful(step: Step, at: At) -> Step:
    """A step whose failure gives an empty text, or an error where the mapping is strict."""

    def careful(run: Run, data: Any) -> Any:
        try:
            return step(run, data)
        except Failed as error:
            if at.is_strict:
                raise _error(at, str(error)) from None
            run.warn(_told(at, error))
            return ""

    return careful


def _told(at: At, error: Exception) -> str:
    return f'key "{at.name}": {error}' if at.name else str(error)


def entry(config: Mapping[str, Any], at: At) -> Step:
    """`{path, transform, fallback}`: the fallback is for what is still null or undefined then."""
    text = config.get("path", "")
    path = _parsed(text) if isinstance(text, str) else None
    read: Step = _no_path(str(text), at) if path is None else reader_of(path)
    transform = transform_of(config.get("transform"))
    instead = fallback_of(config)
    if not at.is_strict and instead is None:
        if transform is None:
            return read
        name = single_name(path) if path is not None else None
        if name is not None:
            return _transformed_field(name, read, transform, at)
        return _transformed(read, transform, at)

    def step(run: Run, data: Any) -> Any:
        value = found = read(run, data)
        if transform is not None:
            try:
                value = transform(run, value)
            except Failed as error:
                if at.is_strict and instead is None:
                    raise _error(at, str(error), path=text) from None
                run.warn(_told(at, error))
                if instead is not None:
                    run.fell_back(text or at.name)
                    return instead(run)
        if value is None or value is UNDEFINED:
            if instead is not None:
                run.fell_back(text or at.name)
                return instead(run)
            if at.is_strict and path is not None and is_nothing(found):
                _insist(run, data, path, at)
        return value

    return step


def _transformed(read: Step, transform: Transform, at: At) -> Step:
    """A path and a transform, nothing else: what most entries are."""

    def step(run: Run, data: Any) -> Any:
        value = read(run, data)
        try:
            return transform(run, value)
        except Failed as error:
            run.warn(_told(at, error))
            return value

    return step


def _transformed_field(name: str, read: Step, transform: Transform, at: At) -> Step:
    """The same for one key of an object, in one call less: lists have hundreds of these."""

    def step(run: Run, data: Any) -> Any:
        value = data.get(name, UNDEFINED) if type(data) is dict else read(run, data)
        try:
            return transform(run, value)
        except Failed as error:
            run.warn(_told(at, error))
            return value

    return step


# ------------------------------------------------------------------ jsonPath


def json_path(config: Mapping[str, Any], at: At) -> Step:
    """An object with one entry a key; dots in a key make objects in objects."""
    steps: list[tuple[tuple[str, ...], Step]] = []
    for name, part in _parts(config):
        keys = tuple(name.split("."))
        if not BLOCKED.intersection(keys):
            inner = at.named(name)
            for _ in keys[1:]:
                inner = inner.inside(at.kind)
            steps.append((keys, _entry_step(part, inner)))

    if all(len(keys) == 1 for keys, _ in steps):
        return _fields_step([(keys[0], make) for keys, make in steps])

    def step(run: Run, data: Any) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for keys, make in steps:
            value = make(run, data)
            if value is not _SKIPPED:
                _set_nested(result, keys, value)
        return result

    return _tags_kept(step, [key for keys, _ in steps for key in keys])


def _parts(config: Mapping[str, Any]) -> list[tuple[str, Any]]:
    mappings = raw(config.get("mappings"))
    return list(mappings.items()) if isinstance(mappings, Mapping) else []


def _entry_step(part: Any, at: At) -> Step:
    tree = raw(part)
    if not isinstance(tree, Mapping):
        return _path_step(tree, at) if isinstance(tree, str) else _constant(tree)
    if tree.get("type") in KINDS and "path" not in tree:
        return _kept_apart(step_of(tree, at), at)
    return entry(tree, at)


def _constant(value: Any) -> Step:
    give = literal(value)
    return lambda run, data: give(run)


def _set_nested(result: dict[str, Any], keys: tuple[str, ...], value: Any) -> None:
    """Objects on the way are copied: they may be shared with the data."""
    here = result
    for key in keys[:-1]:
        inner = raw(here.get(key))
        here[key] = here = dict(inner) if isinstance(inner, dict) else {}
    here[keys[-1]] = value


def _kept_apart(step: Step, at: At) -> Step:
    """A mapping inside another: its failure is that of the whole only where that is strict."""
    if at.is_strict:
        return step

    def apart(run: Run, data: Any) -> Any:
        try:
            return step(run, data)
        except TooMuch:
            raise
        except MappingError as error:
            run.warn(_told(at, error))
            run.skipped += 1
            return _SKIPPED

    return apart


_SKIPPED: Final = object()
"""What a mapping gives whose key is left out."""


# ------------------------------------------------------------------ object


def object_(config: Mapping[str, Any], at: At) -> Step:
    """An object with a path, a mapping, a written object or a constant for each key."""
    fields = [
        (name, _field_step(part, at.named(name)))
        for name, part in _parts(config)
        if name not in BLOCKED
    ]
    return _fields_step(fields)


def _fields_step(fields: list[tuple[str, Step]]) -> Step:
    """An object of these fields, without those that were skipped."""

    def step(run: Run, data: Any) -> dict[str, Any]:
        before = run.skipped
        result = {name: make(run, data) for name, make in fields}
        if run.skipped == before:
            return result
        return {name: value for name, value in result.items() if value is not _SKIPPED}

    return _tags_kept(step, [name for name, _ in fields])


def _tags_kept(step: Step, names: Iterable[str]) -> Step:
    """`step`, whose object may look like one of our tags (`{"$date": …}`) and is none."""
    if not any(name.startswith("$") for name in names):
        return step
    return lambda run, data: tree_of(freeze(step(run, data)))


def _field_step(part: Any, at: At) -> Step:
    tree = raw(part)
    if isinstance(tree, str):
        return _path_step(tree, at)
    return _written(tree, at)


def _written(tree: Any, at: At) -> Step:
    """What is written out: mappings stand where they look like one, texts may be paths."""
    tree = raw(tree)
    if isinstance(tree, str):
        return _careful(fixed_text(tree), at) if "{{" in tree else fixed_text(tree)
    if isinstance(tree, list):
        inner = at.inside(at.kind)
        steps = [_written(item, inner) for item in tree]
        return lambda run, data: [
            value for make in steps if (value := make(run, data)) is not _SKIPPED
        ]
    if not isinstance(tree, Mapping):
        return _constant(tree)
    if is_mapping(tree):
        return _kept_apart(step_of(tree, at), at)
    inner = at.inside(at.kind)
    return _fields_step(
        [
            (name, _written(item, inner.named(f"{at.name}.{name}" if at.name else name)))
            for name, item in tree.items()
            if name not in BLOCKED
        ]
    )


def is_mapping(tree: Mapping[str, Any]) -> bool:
    """Whether an object inside an object mapping is a mapping, not an object written out."""
    kind = tree.get("type")
    if isinstance(kind, str) and kind in KINDS:
        return kind == "array" or NEEDS[kind] in tree
    return isinstance(tree.get("path"), str) and kind in (None, "path")


NEEDS: Final = {
    "jsonPath": "mappings",
    "object": "mappings",
    "template": "template",
    "conditional": "conditions",
}
"""Kind of mapping → the key it cannot do without."""


# ------------------------------------------------------------------ template, conditional, array


def template(config: Mapping[str, Any], at: At) -> Step:
    """A text with values in it, from what stands at `dataPath` where one is given."""
    text = config.get("template")
    if not isinstance(text, str):
        return _as_it_is
    fill = template_of(text)
    source = config.get("dataPath")
    if not isinstance(source, str):
        return fill
    read = _path_step(source, at)
    return lambda run, data: fill(run, read(run, data))


def conditional(config: Mapping[str, Any], at: At) -> Step:
    """The mapping of the first condition that holds, else `else`, else the data as it is."""
    cases: list[tuple[Condition, Step]] = []
    conditions = raw(config.get("conditions"))
    for each in conditions if isinstance(conditions, list) else ():
        case = raw(each)
        if isinstance(case, Mapping):
            cases.append((condition_of(case.get("if")), step_of(case.get("then"), at)))
    otherwise = step_of(config.get("else"), at)

    def step(run: Run, data: Any) -> Any:
        for holds, then in cases:
            if holds(run, data):
                return then(run, data)
        return otherwise(run, data)

    return step


def _array(config: Mapping[str, Any], at: At) -> Step:
    """A list from a list."""
    item = step_of(config["itemMapping"], at) if config.get("itemMapping") is not None else None
    source = config.get("source")
    read = _path_step(source, at) if isinstance(source, str) else _as_it_is
    return array(config, read, item, constant(config.get("fallback", [])))


KINDS: Final[dict[str, KindOf]] = {
    "jsonPath": json_path,
    "object": object_,
    "array": _array,
    "template": template,
    "conditional": conditional,
}
