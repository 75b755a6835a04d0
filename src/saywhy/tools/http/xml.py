"""An XML answer as data that a mapping can walk through.

An element is an object of its children; one that holds text alone is that text. Attributes stand
under `@name`, text beside children under `#text`, and children of one name are a list. Prefixes of
namespaces are left out, since each server chooses its own. Documents with a DOCTYPE are refused:
nothing in an answer needs one, and it is what entity attacks are made of.
"""

from __future__ import annotations

from typing import Any, Final
from xml.parsers import expat

MAX_DEPTH: Final = 100
MAX_ELEMENTS: Final = 200_000


class XmlError(ValueError):
    """The text is no XML that is read here."""


def data_of(document: bytes | str) -> dict[str, Any]:
    """The root element under its name. Raises `XmlError` with line and column."""
    builder = _Builder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.StartDoctypeDeclHandler = builder.doctype
    try:
        parser.Parse(document, True)
    except expat.ExpatError as error:
        raise XmlError(str(error)) from None
    return builder.root


class _Builder:
    def __init__(self) -> None:
        self.root: dict[str, Any] = {}
        self._open: list[tuple[dict[str, Any], list[str]]] = []
        self._count = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if len(self._open) >= MAX_DEPTH:
            raise XmlError(f"it is nested deeper than {MAX_DEPTH} elements")
        if self._count > MAX_ELEMENTS:
            raise XmlError(f"it has more than {MAX_ELEMENTS} elements")
        shown = {
            f"@{_local(key)}": value
            for key, value in attributes.items()
            if key != "xmlns" and not key.startswith("xmlns:")
        }
        self._open.append((shown, []))

    def text(self, text: str) -> None:
        if self._open:
            self._open[-1][1].append(text)

    def end(self, name: str) -> None:
        fields, texts = self._open.pop()
        text = "".join(texts).strip()
        if fields and text:
            fields["#text"] = text
        _add(self._open[-1][0] if self._open else self.root, _local(name), fields or text)

    def doctype(self, *ignored: object) -> None:
        raise XmlError("it has a DOCTYPE, and answers with one are not read")


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _add(fields: dict[str, Any], name: str, value: Any) -> None:
    if name not in fields:
        fields[name] = value
    elif isinstance(fields[name], list):
        fields[name].append(value)
    else:
        fields[name] = [fields[name], value]
