"""Whatever a host logs with."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from saywhy.runtime.log import Log
from tests.flows.conftest import Lines


class Half:
    """A logger that cannot tell of errors."""

    debug = info = warn = print
    error = None


def test_none_is_the_librarys_logger(caplog: pytest.LogCaptureFixture) -> None:
    """Named after it, so that a host can turn it up or down."""
    with caplog.at_level(logging.DEBUG, "saywhy"):
        log = Log()
        for level in ("debug", "info", "warn", "error"):
            getattr(log, level)(f"a {level}")
    assert [(record.name, record.levelname) for record in caplog.records] == [
        ("saywhy", "DEBUG"),
        ("saywhy", "INFO"),
        ("saywhy", "WARNING"),
        ("saywhy", "ERROR"),
    ]


def test_a_standard_logger_will_do(caplog: pytest.LogCaptureFixture) -> None:
    """Its warning is our warn."""
    Log(logging.getLogger("host")).warn("careful")
    assert caplog.records[0].name == "host"


def test_any_object_with_the_methods_will_do() -> None:
    """`warning` in place of `warn` as well."""

    class Other:
        def __init__(self) -> None:
            self.lines: list[str] = []

        def debug(self, text: str) -> None:
            self.lines.append(text)

        info = warning = error = debug

    for logger in (Lines(), Other()):
        log = Log(logger)
        log.warn("a")
        log.error("b")
        assert len(logger.lines) == 2
        assert log.logger is logger


@pytest.mark.parametrize(
    ("logger", "missing"),
    [
        (object(), "debug(), info(), warn(), error()"),
        (Half(), "error()"),
        (5, "debug(), info(), warn(), error()"),
    ],
)
def test_half_a_logger_is_replaced(
    logger: Any, missing: str, caplog: pytest.LogCaptureFixture
) -> None:
    """With a warning that says what it lacks; it could break a turn later on."""
    log = Log(logger)
    assert log.logger is logging.getLogger("saywhy")
    assert f"has no {missing}; logging goes to the logger saywhy instead" in caplog.text


def test_a_logger_that_raises_breaks_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Its failure is logged where it can be."""

    class Full:
        def debug(self, text: str) -> None:
            raise OSError("disk full")

        info = warn = error = debug

    Log(Full()).error("lost")
    assert "the host's logger raised" in caplog.text
    assert "disk full" in caplog.text
