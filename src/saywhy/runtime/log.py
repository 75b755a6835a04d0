"""Whatever a host logs with, behind four methods.

spec: flow-engine 1.1: None, a `logging.Logger`, or any object with debug, info, warn and error; one
that lacks a method is replaced, with a warning.
"""

from __future__ import annotations

import logging
from typing import Any

METHODS = ("debug", "info", "warn", "error")


class Log:
    """A host's logger, made safe: a logger that raises never breaks a turn."""

    def __init__(self, logger: Any = None) -> None:
        self.replace(logger)

    def replace(self, logger: Any) -> None:
        """Log to `logger` from now on; None is the logger `saywhy`."""
        self._logger = logger if logger is not None else logging.getLogger("saywhy")
        missing = [name for name in METHODS if not callable(_method(self._logger, name))]
        if missing:
            self._logger = logging.getLogger("saywhy")
            self._logger.warning(
                "the logger handed over has no %s(); logging goes to the logger saywhy instead",
                "(), ".join(missing),
            )

    @property
    def logger(self) -> Any:
        """What is written to."""
        return self._logger

    def debug(self, text: str) -> None:
        """For somebody looking for a cause."""
        self._write("debug", text)

    def info(self, text: str) -> None:
        """What happened."""
        self._write("info", text)

    def warn(self, text: str) -> None:
        """Something doubtful; the conversation goes on."""
        self._write("warn", text)

    def error(self, text: str) -> None:
        """Something went wrong."""
        self._write("error", text)

    def _write(self, level: str, text: str) -> None:
        try:
            _method(self._logger, level)(text)
        except Exception:
            logging.getLogger("saywhy").exception("the host's logger raised")


def _method(logger: Any, name: str) -> Any:
    if name == "warn" and isinstance(logger, logging.Logger):
        return logger.warning
    return getattr(logger, name, None) or (
        getattr(logger, "warning", None) if name == "warn" else None
    )
