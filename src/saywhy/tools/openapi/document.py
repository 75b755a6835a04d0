"""An OpenAPI description as it was read: its version, what its references lead to, and the notes.

References are followed inside the document only, and a bounded number of times: a description comes
from somebody else. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from saywhy.errors import DefinitionError, Place, Problem

MAX_STEPS: Final = 50
"""References that lead to references."""


class Api:
    """A description, and what could not be expressed of the operation at hand."""

    def __init__(self, document: Any, place: Place | None = None) -> None:
        self.place = place or Place()
        self.root: Mapping[str, Any] = self._checked(document)
        self.notes: list[str] = []
        """What could not be expressed so far. Whoever reads them takes them out."""

    @property
    def is_older(self) -> bool:
        """Whether schemas are those of 3.0, which are not quite JSON schemas."""
        return str(self.root["openapi"]).startswith("3.0")

    def note(self, text: str) -> None:
        """Say once what could not be expressed."""
        if text not in self.notes:
            self.notes.append(text)

    def take_notes(self) -> tuple[str, ...]:
        """The notes since they were last taken."""
        taken, self.notes = tuple(self.notes), []
        return taken

    def at(self, value: Any) -> Any:
        """What a value is, after its reference was followed; None where it leads nowhere.

        What stands beside a reference, a description for instance, goes before what it leads to.
        """
        beside: dict[str, Any] = {}
        for _ in range(MAX_STEPS):
            if not isinstance(value, Mapping) or not isinstance(value.get("$ref"), str):
                return {**value, **beside} if beside and isinstance(value, Mapping) else value
            beside = {key: one for key, one in value.items() if key != "$ref"} | beside
            value = self._target(value["$ref"])
        self.note("a reference leads in a circle")
        return None

    def object_at(self, value: Any) -> Mapping[str, Any]:
        """Likewise, where an object is wanted; empty for all else."""
        found = self.at(value)
        return found if isinstance(found, Mapping) else {}

    def _target(self, reference: str) -> Any:
        file, _, pointer = reference.partition("#")
        if file:
            self.note(f"{reference} is in another file, which is not read")
            return None
        value: Any = self.root
        for part in pointer.split("/")[1:]:
            key = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(value, list) and key.isdecimal() and int(key) < len(value):
                value = value[int(key)]
            elif isinstance(value, Mapping) and key in value:
                value = value[key]
            else:
                self.note(f"{reference} leads nowhere")
                return None
        return value

    def _checked(self, document: Any) -> Mapping[str, Any]:
        message = hint = ""
        if not isinstance(document, Mapping):
            message, hint = "an OpenAPI description is an object", "is this the right file?"
        elif "swagger" in document:
            message = f"this is Swagger {document['swagger']}; OpenAPI 3.0 and 3.1 can be read"
            hint = "convert it to OpenAPI 3 first; there are programs for this"
        elif not str(document.get("openapi") or "").startswith(("3.0", "3.1")):
            version = document.get("openapi")
            message = f"this is OpenAPI {version}" if version else "this is no OpenAPI description"
            hint = 'it begins with "openapi": "3.0.…" or "3.1.…"'
        elif not isinstance(document.get("paths"), Mapping):
            message, hint = "the description has no `paths`", "there is nothing to import"
        else:
            return document
        raise DefinitionError([Problem(message, self.place, hint)])
