"""The exceptions a run may end with, one class per gRPC code. Source: `tf.errors`.

`OpError.message` carries the text, `.op` / `.node_def` the node that failed (None where no node did), `.error_code` the
number that travels on the wire.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "ABORTED",
    "ALREADY_EXISTS",
    "CANCELLED",
    "DATA_LOSS",
    "DEADLINE_EXCEEDED",
    "FAILED_PRECONDITION",
    "INTERNAL",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "OK",
    "OUT_OF_RANGE",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "UNAUTHENTICATED",
    "UNAVAILABLE",
    "UNIMPLEMENTED",
    "UNKNOWN",
    "AbortedError",
    "AlreadyExistsError",
    "CancelledError",
    "DataLossError",
    "DeadlineExceededError",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "NotFoundError",
    "OpError",
    "OutOfRangeError",
    "PermissionDeniedError",
    "ResourceExhaustedError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
    "error_code_from_exception_type",
    "exception_type_from_error_code",
]

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """A failure at run time. `node_def` and `op` may be None when no single node is to blame."""

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int = UNKNOWN):
        super().__init__(node_def, op, message)
        self._node_def, self._op, self._message, self._error_code = node_def, op, message, error_code

    @property
    def message(self) -> str:
        return self._message

    @property
    def op(self) -> Any:
        """The `tf.Operation` that failed, when the session's graph has it."""
        return self._op

    @property
    def error_code(self) -> int:
        return self._error_code

    @property
    def node_def(self) -> Any:
        return self._node_def

    def __reduce__(self) -> tuple[Any, ...]:
        # An Operation cannot cross a process; the message names it.
        if type(self) is OpError:
            return OpError, (None, None, self._message, self._error_code)
        return type(self), (None, None, self._message)

    def __str__(self) -> str:
        if self._op is None:
            return self._message
        origin = getattr(self._op, "origin", None)
        where = f" (defined at {origin})" if origin else ""
        return f"{self._message}\n\nOriginal node: {self._op.name} = {self._op.type}{where}"


_CLASSES: dict[int, type[OpError]] = {}


def _error(code: int, name: str, meaning: str) -> type[OpError]:
    def initialize(self: OpError, node_def: Any, op: Any, message: str, *_: Any) -> None:
        OpError.__init__(self, node_def, op, message, code)

    cls = type(name, (OpError,), {"__init__": initialize, "__doc__": meaning, "__module__": __name__})
    _CLASSES[code] = cls
    return cls


CancelledError = _error(CANCELLED, "CancelledError", "The step was cancelled, e.g. because its session was closed.")
UnknownError = _error(UNKNOWN, "UnknownError", "An error whose kind is not known.")
InvalidArgumentError = _error(INVALID_ARGUMENT, "InvalidArgumentError", "An argument that can never be right.")
DeadlineExceededError = _error(DEADLINE_EXCEEDED, "DeadlineExceededError", "The step took longer than was allowed.")
NotFoundError = _error(NOT_FOUND, "NotFoundError", "A file, key, device or op that does not exist.")
AlreadyExistsError = _error(ALREADY_EXISTS, "AlreadyExistsError", "Something that was to be made exists.")
PermissionDeniedError = _error(PERMISSION_DENIED, "PermissionDeniedError", "The caller may not do this.")
UnauthenticatedError = _error(UNAUTHENTICATED, "UnauthenticatedError", "The caller did not say who it is.")
ResourceExhaustedError = _error(RESOURCE_EXHAUSTED, "ResourceExhaustedError", "Memory, disk or a quota ran out.")
FailedPreconditionError = _error(
    FAILED_PRECONDITION, "FailedPreconditionError", "The system is not in the needed state, e.g. uninitialized."
)
AbortedError = _error(ABORTED, "AbortedError", "The step was aborted, e.g. by a restarted peer; a retry may help.")
OutOfRangeError = _error(OUT_OF_RANGE, "OutOfRangeError", "The input has ended.")
UnimplementedError = _error(UNIMPLEMENTED, "UnimplementedError", "This operation is not there.")
InternalError = _error(INTERNAL, "InternalError", "An invariant of the runtime was broken.")
UnavailableError = _error(UNAVAILABLE, "UnavailableError", "A peer cannot be reached now.")
DataLossError = _error(DATA_LOSS, "DataLossError", "Stored data is corrupt or truncated.")


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The class for a wire code; KeyError for OK or a number that is no code."""
    return _CLASSES[error_code]


def error_code_from_exception_type(cls: type[OpError]) -> int:
    """The wire code of a class; KeyError for a class that has none."""
    for code, known in _CLASSES.items():
        if known is cls:
            return code
    raise KeyError(cls)
