"""What an answer means: a value for the conversation, or an error that says what came instead.

JSON is read, XML is read where a mapping wants to walk through it, all else is text.
spec: flow-engine 6.3
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

import msgspec

from saywhy.tools.http.client import HttpAnswer
from saywhy.tools.http.trouble import HttpTrouble
from saywhy.tools.http.xml import XmlError, data_of

MAX_QUOTED: Final = 500
"""Characters of an answer that an error repeats."""


def value_of(answer: HttpAnswer, *, walk_xml: bool = False) -> tuple[Any, bool]:
    """The value, and whether it is data that a mapping can walk through.

    `walk_xml` makes data of XML as well. Raises `HttpTrouble` for a body that is not what its
    content type says.
    """
    kind = _kind(answer)
    if not answer.body.strip() or answer.status == HTTPStatus.NO_CONTENT:
        return "", False
    if kind == "application/json" or kind.endswith("+json"):
        return _json(answer), True
    if kind in ("application/xml", "text/xml") or kind.endswith("+xml"):
        return (_xml(answer), True) if walk_xml else (_text(answer), False)
    if kind.startswith("text/"):
        return _text(answer), False
    try:
        return msgspec.json.decode(_unmarked(answer.body)), True
    except (msgspec.MsgspecError, RecursionError):
        return _text(answer), False


def _kind(answer: HttpAnswer) -> str:
    return answer.headers.get("content-type", "").partition(";")[0].strip().lower()


def _unmarked(body: bytes) -> bytes:
    return body.removeprefix(b"\xef\xbb\xbf")


def _json(answer: HttpAnswer) -> Any:
    try:
        return msgspec.json.decode(_unmarked(answer.body))
    except (msgspec.MsgspecError, RecursionError) as error:
        raise HttpTrouble(
            f"The answer says it is JSON and is not: {error}: {_quoted(answer)}",
            "AnswerUnreadable",
            "ask whoever runs the server",
            answered=True,
            status=answer.status,
        ) from None


def _xml(answer: HttpAnswer) -> Any:
    try:
        return data_of(answer.body)
    except (XmlError, ValueError, LookupError) as error:
        raise HttpTrouble(
            f"The answer says it is XML and cannot be read: {error}: {_quoted(answer)}",
            "AnswerUnreadable",
            "ask whoever runs the server",
            answered=True,
            status=answer.status,
        ) from None


def _text(answer: HttpAnswer) -> str:
    """The body as text. Raises `HttpTrouble` where it is none, a picture for instance."""
    declared = answer.headers.get("content-type", "")
    charset = declared.lower().partition("charset=")[2].partition(";")[0].strip(" \"'") or "utf-8"
    lenient = "replace" if declared.lower().startswith("text/") else "strict"
    try:
        return answer.body.decode(charset, lenient).removeprefix("\ufeff")
    except (UnicodeDecodeError, LookupError):
        size = len(answer.body)
        raise HttpTrouble(
            f"The answer is no text: {declared or 'of no declared type'}, {size} bytes",
            "AnswerUnreadable",
            "a conversation holds text and data; have the server answer with a link",
            answered=True,
            status=answer.status,
        ) from None


def status_trouble(answer: HttpAnswer) -> HttpTrouble:
    """The error for a status that is no success: `HTTP 404 Not Found: <the body, shortened>`."""
    words = " ".join((f"HTTP {answer.status} {reason_of(answer)}").split())
    quoted = _quoted(answer)
    return HttpTrouble(
        f"{words}: {quoted}" if quoted else words,
        "HttpError",
        _STATUS_HINTS.get(answer.status, ""),
        passing=answer.status >= 500 or answer.status == HTTPStatus.TOO_MANY_REQUESTS,
        answered=True,
        status=answer.status,
    )


_STATUS_HINTS: Final = {
    400: "the server did not understand the arguments",
    401: "see the credentials of the tool",
    403: "the credentials of the tool do not allow this",
    404: "see `url` of the tool and the arguments in its path",
    405: "see `method` of the tool",
    415: "see `contentType` of the tool",
}


def reason_of(answer: HttpAnswer) -> str:
    """The words after the status, which newer versions of HTTP no longer send."""
    if answer.reason:
        return answer.reason
    try:
        return HTTPStatus(answer.status).phrase
    except ValueError:
        return ""


def _quoted(answer: HttpAnswer) -> str:
    """The body as an error repeats it: on one line, and not all of a long one."""
    head = answer.body[: MAX_QUOTED * 4].decode("utf-8", "replace")
    text = " ".join(head.split())
    if len(text) > MAX_QUOTED:
        return f"{text[:MAX_QUOTED]}… ({len(answer.body)} bytes)"
    return text
