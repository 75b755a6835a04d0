"""The body of a request, by its content type: JSON, form, multipart with files, text, XML. Pure."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from typing import Any, Final

from saywhy.tools.http.address import Unfit, pairs_of, query_text
from saywhy.tools.http.texts import json_text, text_of

JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
MULTIPART: Final = "multipart/form-data"
_XML: Final = ("application/xml", "text/xml")
KNOWN: Final = (JSON, FORM, MULTIPART, "text/plain", *_XML)


def media_type(content_type: str) -> str:
    """`Text/XML; charset=utf-8` is `text/xml`."""
    return content_type.partition(";")[0].strip().lower()


def is_text(kind: str) -> bool:
    """Whether a body of this type is written as it stands instead of as JSON."""
    return kind.startswith("text/") or kind in _XML or kind.endswith("+xml")


def is_known(kind: str) -> bool:
    """Whether the type means something here; others are sent as JSON."""
    return kind in KNOWN or is_text(kind) or kind.endswith("+json")


def body_of(
    content_type: str, arguments: Mapping[str, Any], array_format: str = "repeat"
) -> tuple[bytes | None, str]:
    """The body and the content type to send it under. No arguments make no body.

    Raises `Unfit` for a file whose content cannot be read.
    """
    if not arguments:
        return None, content_type
    kind = media_type(content_type)
    if kind == FORM:
        return query_text(pairs_of(arguments, array_format)).encode(), content_type
    if kind == MULTIPART:
        return _multipart(arguments)
    if is_text(kind):
        given = arguments.get("body", arguments.get("data"))
        text = json_text(arguments) if given is None else text_of(given)
        return text.encode(), content_type
    return json_text(arguments).encode(), content_type


# ------------------------------------------------------------------ multipart


def _multipart(arguments: Mapping[str, Any]) -> tuple[bytes, str]:
    """Each argument as a part. An object with `filename` and its content is a file.

    The boundary is made of the content, so that the same arguments make the same request.
    """
    parts = [part for name, value in arguments.items() for part in _parts(name, value)]
    boundary = hashlib.sha256(b"".join(head + body for head, body in parts)).hexdigest()[:32]
    while any(boundary.encode() in body for _, body in parts):
        boundary = hashlib.sha256(boundary.encode()).hexdigest()[:32]
    edge = f"--{boundary}".encode()
    body = b"".join(b"%s\r\n%s\r\n\r\n%s\r\n" % (edge, head, body) for head, body in parts)
    return body + edge + b"--\r\n", f"{MULTIPART}; boundary={boundary}"


def _parts(name: str, value: Any) -> list[tuple[bytes, bytes]]:
    if value is None:
        return []
    if isinstance(value, list):
        return [part for item in value for part in _parts(name, item)]
    title = f'Content-Disposition: form-data; name="{_quoted(name)}"'
    if isinstance(value, Mapping) and isinstance(value.get("filename"), str):
        kind = text_of(value.get("contentType")) or "application/octet-stream"
        head = f'{title}; filename="{_quoted(value["filename"])}"\r\nContent-Type: {_line(kind)}'
        return [(head.encode(), _content(name, value))]
    return [(title.encode(), text_of(value).encode())]


def _content(name: str, file: Mapping[str, Any]) -> bytes:
    encoded = file.get("base64")
    if encoded is None:
        return text_of(file.get("content")).encode()
    try:
        return base64.b64decode(text_of(encoded), validate=True)
    except (binascii.Error, ValueError):
        raise Unfit(
            f"The file in argument {name} is no base64",
            "give its content in `content` as text, or in `base64` encoded",
        ) from None


def _quoted(text: str) -> str:
    """A name as it may stand in quotes: browsers write these characters so."""
    return text.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")


def _line(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ")
