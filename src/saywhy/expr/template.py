"""What may stand between `{{` and `}}` in a text: where it is, and the language of paths.

Two languages share the braces. Full expressions (texts to say, values, conditions) are cut out here
and evaluated by `javascript`. Arguments of tools and parameters of flows take paths only, which are
filled in right here, without an engine.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any, Final, Protocol

from saywhy.expr.chains import Path
from saywhy.expr.numbers import value_text
from saywhy.expr.scan import Scanner
from saywhy.values import UNDEFINED, FrozenDict, FrozenList, Value, get_path

OPEN: Final = "{{"
CLOSE: Final = "}}"
CACHE_SIZE: Final = 4096


@dataclass(frozen=True, slots=True)
class Hole:
    """One `{{ … }}`; `start` and `end` include the braces."""

    source: str
    """What stands inside, spaces at both ends left out."""
    start: int
    end: int
    at: int
    """Where `source` begins in the text."""


@dataclass(frozen=True, slots=True)
class TemplateProblem:
    """Something in a text that looks like a template and is none."""

    message: str
    span: tuple[int, int]
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Template:
    """A text cut into what is literal and what is to be filled in."""

    text: str
    parts: tuple[str | Hole, ...]
    holes: tuple[Hole, ...]
    """All holes, in the order of the text."""
    problems: tuple[TemplateProblem, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Nothing is to be filled in."""
        return not self.holes

    @property
    def single(self) -> Hole | None:
        """The hole, where the whole text is exactly one."""
        return self.holes[0] if self.holes and len(self.parts) == 1 else None


_cache: OrderedDict[str, Template] = OrderedDict()
_lock = Lock()


def parse_template(text: str) -> Template:
    """`text` cut at its `{{ … }}`. A `{{` without end is literal text, and reported."""
    known = _cache.get(text)
    if known is not None:
        return known
    template = _parse(text)
    with _lock:
        _cache[text] = template
        if len(_cache) > CACHE_SIZE:
            _cache.popitem(last=False)
    return template


def _parse(text: str) -> Template:
    parts: list[str | Hole] = []
    problems: list[TemplateProblem] = []
    at = 0
    while (start := text.find(OPEN, at)) >= 0:
        end = _end_of_hole(text, start + len(OPEN))
        if end < 0:
            message = '"{{" without "}}": it is shown as it stands'
            problems.append(TemplateProblem(message, (start, start + 2), "close it with }}"))
            break
        if start > at:
            parts.append(text[at:start])
        parts.append(_hole(text, start, end))
        at = end
    if at < len(text):
        parts.append(text[at:])
    holes = tuple(part for part in parts if isinstance(part, Hole))
    return Template(text, tuple(parts), holes, tuple(problems))


def _hole(text: str, start: int, end: int) -> Hole:
    inside = text[start + len(OPEN) : end - len(CLOSE)]
    source = inside.strip()
    return Hole(source, start, end, start + len(OPEN) + len(inside) - len(inside.lstrip()))


def _end_of_hole(text: str, at: int, inside: Callable[[str], str] = str) -> int:
    """The offset behind the `}}` that closes what opens before `at`; -1 where none does.

    Braces, texts, comments and templates inside are skipped. When that leads further than the next
    `}}`, one side has a mistake in it (an apostrophe, a bracket left open), unless what is cut out
    is JavaScript; then the nearer end spoils less of the text.
    """
    near = text.find(CLOSE, at)
    if near < 0:
        return -1
    scanner = Scanner(text, at)
    far = scanner.at if scanner.skip_to(CLOSE) else -1
    near += len(CLOSE)
    if far in (-1, near):
        return near
    return far if _is_expression(inside(text[at : far - len(CLOSE)])) else near


def _is_expression(source: str) -> bool:
    from saywhy.expr.names import read_expression

    return read_expression(source).error is None


def condition_source(text: str) -> str:
    """A condition as one expression: `{{x}} == 2` becomes `(x) == 2`, outside of texts."""
    if OPEN not in text or _is_expression(text):
        return text
    parts: list[str] = []
    scanner = Scanner(text)
    copied = 0
    while scanner.at < len(text):
        in_text = bool(scanner.open) and scanner.open[-1][1] == "`"
        end = -1
        if not in_text and text.startswith(OPEN, scanner.at):
            end = _end_of_hole(text, scanner.at + len(OPEN), condition_source)
        if end < 0:
            scanner.step()
            continue
        inside = condition_source(_hole(text, scanner.at, end).source)
        parts += [text[copied : scanner.at], _parenthesised(inside)]
        copied = end
        scanner.jump(end)
    parts.append(text[copied:])
    return "".join(parts)


def _parenthesised(source: str) -> str:
    return f"({source}\n)" if "//" in source else f"({source})"


# ------------------------------------------------------------------ paths only


class PathNames(Protocol):
    """What the language of paths needs to know."""

    def get(self, path: Path) -> Value:
        """The frozen value at `path`, `UNDEFINED` where nothing is."""
        ...


_STEP: Final = "|".join(
    (
        r"\.\s*[^\W\d][\w$]*",
        r"\.\s*\$[\w$]*",
        r"\.\d+",
        r"\[\s*\d+\s*\]",
        r"\[\s*'[^'\\]*'\s*\]",
        r'\[\s*"[^"\\]*"\s*\]',
    )
)
_PATH: Final = re.compile(rf"(?:[^\W\d]|\$)[\w$]*(?:\s*(?:{_STEP}))*")
_STEPS: Final = re.compile(_STEP)
_ARGUMENT: Final = re.compile(r"\{(\$args(?:\.[\w$]+|\[\d+\])*)\}")


@lru_cache(CACHE_SIZE)
def path_of(source: str) -> Path | None:
    """`a.b[0]` as a path; None where the text is something else."""
    source = source.strip()
    if _PATH.fullmatch(source) is None:
        return None
    first = _STEPS.search(source)
    root = source[: first.start()].strip() if first else source
    return (root, *(_key(step[0]) for step in _STEPS.finditer(source, len(root))))


def _key(step: str) -> str | int:
    inner = step[1:].strip() if step[0] == "." else step[1:-1].strip()
    if inner.isdigit():
        return int(inner)
    return inner[1:-1] if inner[0] in "'\"" else inner


def path_problems(text: str) -> Iterator[TemplateProblem]:
    """What in `text` is no path and would be filled in as nothing."""
    template = parse_template(text)
    yield from template.problems
    for hole in template.holes:
        if path_of(hole.source) is None:
            yield TemplateProblem(
                f'"{hole.source}" is no path, and only a path like a.b[0] may stand here; '
                "it gives an empty text",
                (hole.at, hole.at + len(hole.source)),
                "compute it in a SET step before, and name its variable here",
            )


def fill_paths(
    value: Any,
    names: PathNames,
    *,
    arguments: Mapping[str, Any] | None = None,
    fill_keys: bool = False,
) -> tuple[Any, tuple[Path, ...]]:
    """`value` with every `{{path}}` filled in, and the paths that were read.

    A text that is one `{{path}}` becomes the value itself; in mixed text the value is written out.
    Missing and null give an empty text, and so does what is no path. `arguments` is what `$args`
    names. With `fill_keys` keys are filled in as well, and dropped where that leaves them empty.
    """
    filler = _Filler(names, arguments, fill_keys)
    return filler.fill(value), tuple(filler.reads)


class _Filler:
    def __init__(
        self, names: PathNames, arguments: Mapping[str, Any] | None, fill_keys: bool
    ) -> None:
        self._names = names
        self._arguments = arguments
        self._fill_keys = fill_keys
        self.reads: dict[Path, None] = {}

    def fill(self, value: Any) -> Any:
        """`value` with every text in it filled in."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            pairs = ((self._key(key), item) for key, item in value.items())
            return {key: self.fill(item) for key, item in pairs if key or not self._fill_keys}
        if isinstance(value, list | tuple | FrozenList):
            return [self.fill(item) for item in value]
        return value

    def _key(self, key: str) -> str:
        return value_text(self._text(key)) if self._fill_keys else key

    def _text(self, text: str) -> Any:
        if "{" not in text:
            return text
        template = parse_template(text)
        if template.single is not None:
            return self._value(template.single.source)
        return "".join(self._part(part) for part in template.parts)

    def _part(self, part: str | Hole) -> str:
        if isinstance(part, Hole):
            return value_text(self._value(part.source))
        if self._arguments is None:
            return part
        return _ARGUMENT.sub(lambda match: value_text(self._value(match[1])), part)

    def _value(self, source: str) -> Any:
        path = path_of(source)
        if path is None:
            return ""
        if path[0] == "$args" and self._arguments is not None:
            value = _with_length(path[1:], self._argument)
        else:
            self.reads[path] = None
            value = _with_length(path, self._names.get)
        return "" if value is UNDEFINED or value is None else value

    def _argument(self, path: Path) -> Any:
        arguments = self._arguments
        tree = arguments if isinstance(arguments, FrozenDict) else dict(arguments or {})
        return get_path(tree, path)


def _with_length(path: Path, get: Callable[[Path], Any]) -> Any:
    value = get(path)
    if value is not UNDEFINED or not path or path[-1] != "length":
        return value
    parent = get(path[:-1])
    if isinstance(parent, FrozenList):
        return len(parent)
    if isinstance(parent, str):
        return len(parent) + sum(character > "\uffff" for character in parent)
    return UNDEFINED
