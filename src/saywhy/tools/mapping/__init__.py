"""Response mapping: what a tool answered, made into what a flow wants to read."""

from saywhy.tools.mapping.mapping import Mapped, ResponseMapping, compile_mapping, map_response

__all__ = ["Mapped", "ResponseMapping", "compile_mapping", "map_response"]
