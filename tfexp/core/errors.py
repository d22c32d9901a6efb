"""The exceptions a run may end with, one class per gRPC code. Source: `tf.errors`.

`OpError.message` carries the text, `.op` / `.node_def` the node that failed (None where no node did), `.error_code` the
number that travels on the wire.
"""

from __future__ import annotations

from typing import Any, ClassVar

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
    "raise_exception_on_not_ok_status",
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


_CLASSES: dict[int, type[OpError]] = {}


class OpError(Exception):
    """A failure at run time. `node_def` and `op` may be None when no single node is to blame."""

    _code: ClassVar[int | None] = None

    def __init_subclass__(cls, code: int | None = None, **kwargs: Any) -> None:
        """`class NotFoundError(OpError, code=NOT_FOUND)`: the class of that code."""
        super().__init_subclass__(**kwargs)
        if code is not None:
            cls._code = code
            _CLASSES[code] = cls

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int = UNKNOWN):
        super().__init__(node_def, op, message)
        self._node_def, self._op, self._message = node_def, op, message
        self._error_code = error_code if self._code is None else self._code

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


class CancelledError(OpError, code=CANCELLED):
    """The step was cancelled, e.g. because its session was closed."""


class UnknownError(OpError, code=UNKNOWN):
    """An error whose kind is not known."""


class InvalidArgumentError(OpError, code=INVALID_ARGUMENT):
    """An argument that can never be right."""


def invalid(message: str) -> InvalidArgumentError:
    """The error of a kernel that got such an argument; whoever runs the node says which one it is."""
    return InvalidArgumentError(None, None, message)


class DeadlineExceededError(OpError, code=DEADLINE_EXCEEDED):
    """The step took longer than was allowed."""


class NotFoundError(OpError, code=NOT_FOUND):
    """A file, key, device or op that does not exist."""


class AlreadyExistsError(OpError, code=ALREADY_EXISTS):
    """Something that was to be made exists."""


class PermissionDeniedError(OpError, code=PERMISSION_DENIED):
    """The caller may not do this."""


class UnauthenticatedError(OpError, code=UNAUTHENTICATED):
    """The caller did not say who it is."""


class ResourceExhaustedError(OpError, code=RESOURCE_EXHAUSTED):
    """Memory, disk or a quota ran out."""


class FailedPreconditionError(OpError, code=FAILED_PRECONDITION):
    """The system is not in the needed state, e.g. uninitialized."""


class AbortedError(OpError, code=ABORTED):
    """The step was aborted, e.g. by a restarted peer; a retry may help."""


class OutOfRangeError(OpError, code=OUT_OF_RANGE):
    """The input has ended."""


class UnimplementedError(OpError, code=UNIMPLEMENTED):
    """This operation is not there."""


class InternalError(OpError, code=INTERNAL):
    """An invariant of the runtime was broken."""


class UnavailableError(OpError, code=UNAVAILABLE):
    """A peer cannot be reached now."""


class DataLossError(OpError, code=DATA_LOSS):
    """Stored data is corrupt or truncated."""


class OperatorNotAllowedInGraphError(TypeError):
    """What Python does with values was asked of a tensor of a graph."""


class InaccessibleTensorError(ValueError):
    """A tensor was asked for where it is not: it is of another function or of a branch or loop."""


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The class for a wire code; KeyError for OK or a number that is no code."""
    return _CLASSES[error_code]


def error_code_from_exception_type(cls: type[OpError]) -> int:
    """The wire code of a class; KeyError for a class that has none."""
    for code, known in _CLASSES.items():
        if known is cls:
            return code
    raise KeyError(cls)


class Status:
    """How a call went: a code, and a message where it is not OK. As `raise_exception_on_not_ok_status` gives it out."""

    def __init__(self) -> None:
        self.code, self.message = OK, ""


class raise_exception_on_not_ok_status:  # noqa: N801  # TensorFlow's name
    """`with raise_exception_on_not_ok_status() as status:` raises, in the end, what `status` was set to, if not OK."""

    def __enter__(self) -> Status:
        self._status = Status()
        return self._status

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        if kind is None and self._status.code != OK:
            raise exception_type_from_error_code(self._status.code)(None, None, self._status.message)
