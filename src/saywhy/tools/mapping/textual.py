"""Transforms that make or take apart texts, dates among them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any, Final

from saywhy.scalars import Date
from saywhy.tools.mapping.fallback import fallback_of, fallback_or, literal
from saywhy.tools.mapping.numeric import Maker, Transform
from saywhy.tools.mapping.operators import is_nothing
from saywhy.tools.mapping.run import Failed, Run
from saywhy.tools.mapping.scripts import GROUP, ISO, REPLACE, script
from saywhy.tools.mapping.templates import template_of
from saywhy.tools.mapping.texts import BLANKS, cut, named_text, number_of, text_of, utf16_length
from saywhy.values import UNDEFINED, raw

_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_MOMENT: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{3})?Z", re.ASCII)


def _text(config: Mapping[str, Any], name: str, default: str = "") -> str:
    value = config.get(name)
    return default if value is None else text_of(raw(value))


def _of_text(change: Callable[[str], str]) -> Maker:
    def make(config: Mapping[str, Any]) -> Transform:
        return lambda run, value: change(value if type(value) is str else text_of(value))

    return make


def concat(config: Mapping[str, Any]) -> Transform:
    """The text between `prefix` and `suffix`."""
    prefix, suffix = _text(config, "prefix"), _text(config, "suffix")

    def transform(run: Run, value: Any) -> str:
        joined = f"{prefix}{named_text(value)}{suffix}"
        run.spend(len(joined))
        return joined

    return transform


def replace(config: Mapping[str, Any]) -> Transform:
    """The text with what the pattern finds replaced; every place, unless `flags` say otherwise."""
    pattern = config.get("pattern")
    if not isinstance(pattern, str) or not pattern:
        return lambda run, value: value
    flags = _text(config, "flags", "g")
    replacement = _text(config, "replacement")

    def transform(run: Run, value: Any) -> Any:
        text = named_text(value)
        changed = script(
            run, REPLACE, text=text, pattern=pattern, flags=flags, replacement=replacement
        )
        run.spend(len(changed))
        return changed

    return transform


def regex(config: Mapping[str, Any]) -> Transform:
    """What the pattern finds: all of it, or the group with this number or name."""
    pattern = config.get("pattern")
    if not isinstance(pattern, str) or not pattern:
        return lambda run, value: value
    flags = _text(config, "flags")
    group = config.get("group", config.get("index"))
    group = group if isinstance(group, str) else int(number_of(group) or 0)
    instead = fallback_or(config, "")

    def transform(run: Run, value: Any) -> Any:
        found = script(run, GROUP, text=text_of(value), pattern=pattern, flags=flags, group=group)
        return found if isinstance(found, str) else instead(run)

    return transform


def substring(config: Mapping[str, Any]) -> Transform:
    """The text from `start` up to `end`; an `end` of 0 is the end of the text."""
    start, end = (_position(config.get(name)) for name in ("start", "end"))

    def transform(run: Run, value: Any) -> str:
        text = text_of(value)
        return cut(text, start, end or utf16_length(text))

    return transform


def _position(value: Any) -> int:
    number = number_of(value)
    return int(max(-1, min(number, 2**53))) if number is not None else 0


def split(config: Mapping[str, Any]) -> Transform:
    """The parts of the text between delimiters, or the one at `index`."""
    delimiter = config.get("delimiter")
    if not isinstance(delimiter, str):
        return _always_fails("split needs a `delimiter`")
    index = config.get("index")
    wanted = None if index is None else number_of(index)

    def transform(run: Run, value: Any) -> Any:
        text = text_of(value)
        parts = text.split(delimiter) if delimiter else list(text)
        run.spend(len(parts) + len(text))
        if index is None:
            return parts
        if wanted is None or not 0 <= wanted < len(parts) or wanted != int(wanted):
            return UNDEFINED
        return parts[int(wanted)]

    return transform


def join(config: Mapping[str, Any]) -> Transform:
    """The items of a list as one text; other values stay as they are."""
    delimiter = _text(config, "delimiter", ",")

    def transform(run: Run, value: Any) -> Any:
        items = raw(value)
        if not isinstance(items, list):
            return value
        run.take(len(items))
        joined = delimiter.join(map(text_of, items))
        run.spend(len(joined))
        return joined

    return transform


# ------------------------------------------------------------------ dates


def to_date(config: Mapping[str, Any]) -> Transform:
    """The moment as ISO text in UTC; what is no date gives the fallback or null."""
    instead = fallback_or(config, None)

    def transform(run: Run, value: Any) -> Any:
        iso = _iso_of_text(run, value) if type(value) is str else _iso(run, value)
        return instead(run) if iso is None else iso

    return transform


def _iso(run: Run, value: Any) -> str | None:
    if isinstance(value, Date):
        value = value.milliseconds
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    # A float, since the engine cannot take every int; far beyond any date both are none.
    return _asked(run, float(max(-1e300, min(value, 1e300))))


def _iso_of_text(run: Run, text: str) -> str | None:
    """The common forms are read here, which is ten times cheaper than asking JavaScript."""
    try:
        if _DAY.fullmatch(text):
            date.fromisoformat(text)
            return f"{text}T00:00:00.000Z"
        text = text.strip(BLANKS)
        moment = _MOMENT.fullmatch(text)
        if moment is not None:
            datetime.fromisoformat(moment[1])
            return f"{moment[1]}{moment[2] or '.000'}Z"
    except ValueError:  # the 30th of February: JavaScript has a view on that
        pass
    return _asked(run, text) if text else None


def _asked(run: Run, value: Any) -> str | None:
    try:
        return script(run, ISO, value=value)
    except Failed as error:
        if str(error).startswith("RangeError"):  # JavaScript's word for what is no date
            return None
        raise


# ------------------------------------------------------------------ templates


def template(config: Mapping[str, Any]) -> Transform:
    """A text with `{{key}}` of the value in it, `{{.}}` for the value itself."""
    text = config.get("template")
    if not isinstance(text, str):
        return _always_fails("template needs a `template`")
    return template_of(text, keep_missing=True)


def handlebars(config: Mapping[str, Any]) -> Transform:
    """A text with blocks, filled from the value."""
    text, path = config.get("template"), config.get("dataPath")
    if not isinstance(text, str) or not isinstance(path, str):
        return _always_fails("handlebars needs a `template` and a `dataPath`")
    return template_of(text)


# ------------------------------------------------------------------ nothing there


def default(config: Mapping[str, Any]) -> Transform:
    """The value, or `value` where it is null or undefined."""
    instead = literal(config["value"]) if "value" in config else fallback_of(config)
    if instead is None:
        return lambda run, value: value
    return lambda run, value: instead(run) if is_nothing(value) else value


def _always_fails(reason: str) -> Transform:
    def transform(run: Run, value: Any) -> Any:
        raise Failed(reason)

    return transform


TEXTUAL: Final[dict[str, Maker]] = {
    "toLowerCase": _of_text(str.lower),
    "toUpperCase": _of_text(str.upper),
    "trim": _of_text(lambda text: text.strip(BLANKS)),
    "replace": replace,
    "concat": concat,
    "regex": regex,
    "date": to_date,
    "default": default,
    "substring": substring,
    "split": split,
    "join": join,
    "template": template,
    "handlebars": handlebars,
}
