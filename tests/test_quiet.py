"""Promise: libraries log no whole messages, unless a host has asked them to."""

from __future__ import annotations

import logging

import pytest

from saywhy.quiet import keep_quiet


def test_debug_lines_are_kept_out(caplog: pytest.LogCaptureFixture) -> None:
    """Also those of the loggers below; what is more than debugging is still told."""
    caplog.set_level(logging.DEBUG)
    keep_quiet("some.wire")
    logging.getLogger("some.wire.client").debug("the message is 4711")
    logging.getLogger("some.wire.client").info("connected")
    assert caplog.messages == ["connected"]


def test_a_host_that_asked_for_it_is_told() -> None:
    """Its own level stays, set before or afterwards."""
    logger = logging.getLogger("another.wire")
    logger.setLevel(logging.DEBUG)
    keep_quiet("another.wire")
    assert logger.level == logging.DEBUG
