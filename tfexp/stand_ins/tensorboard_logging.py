"""`tensorflow.python.training.tensorboard_logging`: messages for the log and the event file. Source: TF 1.15."""

from __future__ import annotations

import time
from typing import Any

from tensorboard.compat.proto.event_pb2 import Event, LogMessage

from tfexp.core.log import get_logger

DEBUG, INFO, WARN, ERROR, FATAL = "DEBUG", "INFO", "WARN", "ERROR", "FATAL"
_LEVELS = {  # events and the log have the same numbers
    DEBUG: LogMessage.DEBUGGING,
    INFO: LogMessage.INFO,
    WARN: LogMessage.WARN,
    ERROR: LogMessage.ERROR,
    FATAL: LogMessage.FATAL,
}


class _Settings:
    """From where on messages are written, and the writer: none, or nobody has said yet."""

    level = WARN
    writer: Any = None
    is_set = False


def get_verbosity() -> str:
    return _Settings.level


def set_verbosity(verbosity: str) -> None:
    """Write what is at least so grave. ValueError for what is no level."""
    _check(verbosity)
    _Settings.level = verbosity


def set_summary_writer(summary_writer: Any) -> None:
    """Where events go from here on; with None only the log has the messages."""
    _Settings.writer, _Settings.is_set = summary_writer, True


def log(level: str, message: str, *args: Any) -> None:
    """A message of that level, `message % args`, in the log and as an event.

    ValueError for what is no level, RuntimeError before the first `set_summary_writer`.
    """
    _check(level)
    if not _Settings.is_set:
        raise RuntimeError("Must call set_summary_writer before doing any logging from tensorboard_logging")
    number = _LEVELS[level]
    if number < _LEVELS[_Settings.level]:
        return
    text = message % args
    if _Settings.writer is not None:
        _Settings.writer.add_event(Event(wall_time=time.time(), log_message=LogMessage(level=number, message=text)))
    get_logger().log(number, text)


def debug(message: str, *args: Any) -> None:
    log(DEBUG, message, *args)


def info(message: str, *args: Any) -> None:
    log(INFO, message, *args)


def warn(message: str, *args: Any) -> None:
    log(WARN, message, *args)


def error(message: str, *args: Any) -> None:
    log(ERROR, message, *args)


def fatal(message: str, *args: Any) -> None:
    log(FATAL, message, *args)


def _check(level: Any) -> None:
    if level not in _LEVELS:
        raise ValueError(f"Level {level} is not a valid tensorboard_logging level")
