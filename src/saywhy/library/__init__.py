"""Flows and tools that come with the package, in English and Spanish, to be used by name."""

from saywhy.library.named import NAMES, author_reference, flows, tools

__all__ = ["NAMES", "author_reference", "flows", "tools"]
