"""The one place where errors become codes and texts, and codes and texts errors."""

from __future__ import annotations

from tfexp.core import errors
from tfexp.core.errors import OpError


def as_error(code: int, message: str) -> OpError:
    """The `tf.errors` class for a code of the wire; UnknownError for a number that is no code."""
    try:
        return errors.exception_type_from_error_code(code)(None, None, message)
    except KeyError:
        return errors.UnknownError(None, None, f"status {code}: {message}")


def code_and_text(error: BaseException) -> tuple[int, str]:
    """What travels. An exception that is no OpError, nor the end of a resource, is a bug of this server."""
    if isinstance(error, OpError):
        return error.error_code, error.message
    if isinstance(error, MemoryError):
        return errors.RESOURCE_EXHAUSTED, f"There is not enough memory: {error}"
    if isinstance(error, RecursionError):
        return errors.RESOURCE_EXHAUSTED, f"The graph is nested too deeply, as functions that call functions are ({error})"
    return errors.INTERNAL, f"{type(error).__name__}: {error}"


def with_prefix(error: OpError, task: str) -> OpError:
    """The error as it happened on that task, said in front of the message."""
    if error.message.startswith("From /job:"):
        return error
    return as_error(error.error_code, f"From {task}:\n{error.message}")
