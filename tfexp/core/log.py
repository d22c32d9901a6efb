"""The logger `tensorflow` of Python's own logging, with a handler for stderr of its own. Source: `tf.logging`."""

from __future__ import annotations

import collections
import functools
import logging
import sys
from typing import IO, Any


class _StandardError(logging.StreamHandler[IO[str]]):
    """Writes to what `sys.stderr` is at the time; silent where the program has set up logging itself."""

    def emit(self, record: logging.LogRecord) -> None:
        if not logging.getLogger().handlers:
            self.stream = sys.stderr
            super().emit(record)


@functools.cache
def get_logger() -> logging.Logger:
    """The logger, which is at WARN to begin with and writes lines as `INFO:tensorflow:message`. `tf.get_logger`."""
    logger = logging.getLogger("tensorflow")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.WARNING)
    if not logger.handlers:
        handler = _StandardError()
        handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
        logger.addHandler(handler)
    return logger


log = get_logger().log
debug = get_logger().debug
info = get_logger().info
warn = get_logger().warning
error = get_logger().error
fatal = get_logger().critical
vlog = get_logger().log


def get_verbosity() -> int:
    """The lowest level that is logged."""
    return get_logger().getEffectiveLevel()


def set_verbosity(v: int) -> None:
    """Log messages of level `v` and above: DEBUG, INFO, WARN, ERROR or FATAL."""
    get_logger().setLevel(v)


def flush() -> None:
    """Have all handlers write what they hold."""
    for handler in get_logger().handlers:
        handler.flush()


def log_if(level: int, msg: str, condition: Any, *args: Any) -> None:
    """Log where `condition` holds."""
    if condition:
        log(level, msg, *args)


_calls: collections.Counter[str] = collections.Counter()


def _calls_before(msg: str) -> int:
    """How often the messages of a place were counted before; the place is known by its message."""
    _calls[msg] += 1
    return _calls[msg] - 1


def log_every_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Log the first of every `n` such messages."""
    log_if(level, msg, _calls_before(msg) % n == 0, *args)


def log_first_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Log the first `n` such messages."""
    log_if(level, msg, _calls_before(msg) < n, *args)
