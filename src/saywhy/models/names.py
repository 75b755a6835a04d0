"""Models by a name that fits on a command line: `openai:NAME`, `scripted:FILE.json` and the like.

A vendor's package is only loaded when a model of that vendor is asked for. What a host writes in
Python makes its model itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from saywhy.errors import CallerError, did_you_mean
from saywhy.models.provider import Provider

USAGE: Final = (
    "openai:NAME, openai:NAME@http://host:port/v1, anthropic:NAME, google:NAME "
    "or scripted:FILE.json"
)


def is_model_name(spec: str) -> bool:
    """Whether `spec` names a vendor's model, or looks like it: `VENDOR:…` with a known vendor."""
    vendor, colon, _ = spec.partition(":")
    return bool(colon) and vendor.lower() in _KINDS


def model_of(spec: str, **options: Any) -> Provider:
    """The model of this name. `options` are handed to its class.

    Keys are read from the environment, as each vendor's package does. Raises `CallerError` for
    what names no model, and where the package, the key or the file is missing.
    """
    vendor, colon, rest = spec.partition(":")
    make = _KINDS.get(vendor.lower())
    if not colon or make is None:
        known = did_you_mean(vendor.lower(), list(_KINDS))
        raise CallerError(f'"{spec}" names no model', hint=known or f"write {USAGE}")
    name, at, address = rest.partition("@") if make is not _scripted else (rest, "", "")
    if not name:
        raise CallerError(f'"{spec}" names no model of {vendor.lower()}', hint=f"write {USAGE}")
    if at:
        if not address.startswith(("http://", "https://")):
            raise CallerError(
                f'"{spec}": {address or "nothing"} is no address of a server',
                hint=f"{vendor}:{name}@http://host:port/v1",
            )
        options = {"base_url": address, **options}
    return make(name, options)


def _openai(name: str, options: dict[str, Any]) -> Provider:
    from saywhy.models.openai import OpenAIModel

    if "base_url" in options:  # a server of another maker: it wants no key, and the older word
        options = {"token_param": "max_tokens", **_key("OPENAI_API_KEY", "none"), **options}
    return _made(OpenAIModel, name, options, "OPENAI_API_KEY")


def _anthropic(name: str, options: dict[str, Any]) -> Provider:
    from saywhy.models.anthropic import AnthropicModel

    return _made(AnthropicModel, name, options, "ANTHROPIC_API_KEY")


def _google(name: str, options: dict[str, Any]) -> Provider:
    from saywhy.models.google import GoogleModel

    return _made(GoogleModel, name, options, "GEMINI_API_KEY", "GOOGLE_API_KEY")


def _scripted(name: str, options: dict[str, Any]) -> Provider:
    from saywhy.models.scripted import ScriptedModel

    return ScriptedModel.from_file(name, **options)


_KINDS: Final[dict[str, Callable[[str, dict[str, Any]], Provider]]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "google": _google,
    "scripted": _scripted,
}


def _made(
    kind: Callable[..., Provider], name: str, options: dict[str, Any], *keys: str
) -> Provider:
    """The model, unless its key is missing: the packages say so late, or in long sentences."""
    if not ({"api_key", "client"} & set(options)) and not any(map(_from_environment, keys)):
        raise CallerError(f"there is no key for {name}", hint=f"set {keys[0]} in the environment")
    return kind(name, **options)


def _key(variable: str, otherwise: str) -> dict[str, str]:
    return {} if _from_environment(variable) else {"api_key": otherwise}


def _from_environment(variable: str) -> str:
    from os import environ

    return environ.get(variable, "")
