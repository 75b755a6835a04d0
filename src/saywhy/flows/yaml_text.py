"""YAML text → value, with the place of every value.

An unquoted word means what it would mean in JSON: `true`, `false`, `null` and JSON numbers; nothing
and `~` are null as well. Everything else is text, so `no`, `on`, `yes`, `012`, `1:30` and
`2024-01-31` are texts, and keys are texts always. That is the JSON schema of YAML 1.2 with plain
texts allowed; the older rules, where `no:` is a key named false, have bitten too many authors.
Anchors, aliases and `<<` work; tags other than those of JSON values do not.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final

from saywhy.errors import Problem
from saywhy.flows.source import Document, SourceMap, Span, join
from saywhy.values import MAX_DEPTH, NonFinite

MAX_VALUES: Final = 200_000
"""How many values a file may have once its aliases are written out."""

_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?\Z")
_CONSTANTS: Final[dict[str, Any]] = {
    "true": True,
    "false": False,
    "null": None,
    "~": None,
    "": None,
}
_PLAIN: Final = "plain"
_TEXT: Final = "tag:yaml.org,2002:str"
_KNOWN_TAGS: Final = frozenset(
    f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "map", "seq")
)
_QUOTE_BRACES: Final = 'YAML reads { as its own; put the whole text in quotes: "{{ … }}"'


def read_yaml(text: str, file: str) -> Document:
    """The value of a YAML text. A text that is no YAML gives the value None and one problem."""
    import yaml

    source = SourceMap(file, text)
    try:
        node = _compose(text)
    except yaml.MarkedYAMLError as bad:
        return Document(None, source, (_syntax_problem(bad, source),))
    except yaml.reader.ReaderError as bad:
        message = f"not valid YAML: the character {chr(int(bad.character))!r} is not allowed"
        problem = Problem(message, source.at(int(bad.position)), "remove it or write it as \\x…")
        return Document(None, source, (problem,))
    except RecursionError:
        problem = Problem("not valid YAML: nested too deep", source.at(0))
        return Document(None, source, (problem,))
    if node is None:
        problem = Problem("the file is empty", source.at(0), "write a list of flows: - id: …")
        return Document(None, source, (problem,))
    builder = _Builder(source)
    value = builder.value(node, "", -1, 0)
    located = SourceMap(file, text, builder.spans)
    return Document(value, located, tuple(builder.problems))


def _compose(text: str) -> Any:
    """The node tree. The C parser is thirty times faster; the Python one explains errors better."""
    import yaml

    if yaml.__with_libyaml__:
        try:
            return yaml.compose(text, Loader=_loader(yaml.CSafeLoader))
        except yaml.YAMLError:
            pass
    return yaml.compose(text, Loader=_loader(yaml.SafeLoader))


def _loader(base: Any) -> Any:
    """A loader that leaves the meaning of unquoted words to us."""
    import yaml

    class Loader(base, yaml.resolver.BaseResolver):  # type: ignore[misc]
        def __init__(self, stream: Any) -> None:
            base.__init__(self, stream)
            yaml.resolver.BaseResolver.__init__(self)

        def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
            if kind is yaml.ScalarNode:
                return _PLAIN if implicit[0] else _TEXT
            return str(self.DEFAULT_MAPPING_TAG)

        # the resolver's bookkeeping of paths in the tree, which only path resolvers need
        def descend_resolver(self, current_node: Any, current_index: Any) -> None: ...

        def ascend_resolver(self) -> None: ...

    return Loader


def _syntax_problem(bad: Any, source: SourceMap) -> Problem:
    mark = bad.problem_mark or bad.context_mark
    at = mark.index if mark else 0
    place = source.at(at)
    line = source.line_at(at)
    problem = bad.problem or bad.context or "unreadable"
    if "'\\t'" in problem or "\\t" in line[: place.column]:
        return Problem(
            "not valid YAML: a tab stands where only spaces may",
            place,
            "indent with spaces, never with tabs",
        )
    hint = _hint_for(f"{bad.context} {problem}", line, line[: place.column - 1])
    return Problem(f"not valid YAML: {problem}", place, hint, excerpt=line.strip())


def _hint_for(problem: str, line: str, before: str) -> str:
    if re.search(r"[:\-]\s*[^\"'\s]*\{\{", line):
        return _QUOTE_BRACES
    if "mapping values are not allowed" in problem:
        if ":" not in before:
            return (
                "check the indentation: this key stands further to the right than those beside it"
            )
        return 'a text (or key) with ": " in it must stand in quotes'
    if "cannot start any token" in problem:
        return "put the text in quotes"
    if "quoted scalar" in problem:
        return "a quote is opened and never closed"
    if "single document" in problem:
        return "one file holds one document; remove the second ---"
    if "undefined alias" in problem:
        return "a text that begins with * must stand in quotes"
    return "check indentation, and put texts with special characters in quotes"


class _Builder:
    """Nodes → values. Collects spans and problems on the way; each node's value is its own copy."""

    def __init__(self, source: SourceMap) -> None:
        self.source = source
        self.spans: dict[str, Span] = {}
        self.problems: list[Problem] = []
        self.open: set[int] = set()
        self.count = 0

    def problem(self, message: str, at: int, hint: str = "") -> None:
        self.problems.append(Problem(message, self.source.at(at), hint))

    def value(self, node: Any, pointer: str, key: int, depth: int) -> Any:
        import yaml

        start = node.start_mark.index
        self.spans[pointer] = Span(start, node.end_mark.index, key, _style(node))
        if self.are_too_many(start):
            return None
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node, start)
        if id(node) in self.open or depth >= MAX_DEPTH:
            what = "an alias stands inside its own anchor" if id(node) in self.open else ""
            self.problem(what or f"nested deeper than {MAX_DEPTH} levels", start)
            return None
        self.check_tag(node, start)
        self.open.add(id(node))
        built = (
            [
                self.value(item, f"{pointer}/{index}", -1, depth + 1)
                for index, item in enumerate(node.value)
            ]
            if isinstance(node, yaml.SequenceNode)
            else self.mapping(node, pointer, depth)
        )
        self.open.discard(id(node))
        return built

    def are_too_many(self, at: int) -> bool:
        """Count one more value; a few lines may stand for billions."""
        self.count += 1
        if self.count == MAX_VALUES + 1:
            self.problem(f"more than {MAX_VALUES} values once aliases are written out", at)
        return self.count > MAX_VALUES

    def mapping(self, node: Any, pointer: str, depth: int) -> Any:
        if self.is_braces(node):
            self.problem("unquoted {{ }}", node.start_mark.index, _QUOTE_BRACES)
            return self.source.text[node.start_mark.index : node.end_mark.index]
        tree: dict[str, Any] = {}
        merged: list[Any] = []
        for key_node, value_node in node.value:
            at = key_node.start_mark.index
            if not isinstance(key_node.value, str):
                self.problem("a key must be a text", at, "put the key in quotes")
                continue
            key = _whole_characters(key_node.value)
            if key == "<<" and key_node.tag == _PLAIN:
                merged.append(value_node)
                continue
            if key in tree:
                self.problem(
                    f'the key "{key}" stands twice in one object; the later one wins',
                    at,
                    "remove or rename one of the two",
                )
            tree[key] = self.value(value_node, join(pointer, key), at, depth + 1)
        for value_node in merged:
            self.merge(tree, value_node, pointer, depth)
        return tree

    def merge(self, tree: dict[str, Any], node: Any, pointer: str, depth: int) -> None:
        """`<<: *base`: the entries of `base` where there is none of one's own.

        A base may have one itself: what that gives comes last.
        """
        import yaml

        bases = node.value if isinstance(node, yaml.SequenceNode) else [node]
        for base in bases:
            if self.are_too_many(node.start_mark.index):
                return
            if not isinstance(base, yaml.MappingNode) or id(base) in self.open:
                self.problem("<< wants an object or an alias of one", node.start_mark.index)
                continue
            self.open.add(id(base))
            own = set(tree)
            further: list[Any] = []
            for key_node, value_node in base.value:
                key = key_node.value
                if key == "<<" and key_node.tag == _PLAIN:
                    further.append(value_node)
                elif isinstance(key, str) and key not in own:
                    at = key_node.start_mark.index
                    tree[key] = self.value(value_node, join(pointer, key), at, depth + 1)
            for inner in further:
                self.merge(tree, inner, pointer, depth)
            self.open.discard(id(base))

    def is_braces(self, node: Any) -> bool:
        """Whether `{{ name }}` without quotes was read as an object in an object."""
        start = node.start_mark.index
        return bool(node.value) and self.source.text.startswith("{{", start)

    def scalar(self, node: Any, start: int) -> Any:
        text = _whole_characters(node.value)
        if node.tag == _TEXT:
            return text
        if node.tag != _PLAIN:
            self.check_tag(node, start)
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        number = _NUMBER.match(text)
        if number is None:
            return text
        if number.lastindex:
            real = float(text)
            return real if math.isfinite(real) else NonFinite(real)
        try:
            return -0.0 if text == "-0" else int(text)
        except ValueError:
            self.problem("a number with too many digits", start, "put it in quotes")
            return text

    def check_tag(self, node: Any, start: int) -> None:
        if node.tag not in _KNOWN_TAGS and node.tag != _PLAIN:
            self.problem(
                f"the tag {node.tag} means nothing here",
                start,
                "a text that begins with ! must stand in quotes",
            )


def _whole_characters(text: str) -> str:
    """Escaped surrogate pairs as the characters they stand for, as in JSON."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return text


def _style(node: Any) -> str:
    if not isinstance(node.value, str):
        return ""
    return str(node.style) if node.style else "plain"
