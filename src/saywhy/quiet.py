"""Keeps libraries from logging whole messages: what goes over the wire is for no log.

Some write every request and answer at the level DEBUG, with all that is sensitive in them, and a
host that wants our own debug lines would get theirs with them. A host that sets the level of such
a logger itself gets what it asked for.
"""

from __future__ import annotations

import logging


def keep_quiet(*loggers: str) -> None:
    """Have these loggers say nothing below INFO, unless somebody has said what they are to say."""
    for name in loggers:
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.INFO)
