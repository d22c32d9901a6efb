"""What a kernel raised becomes a `tf.errors` class that says which node failed."""

from __future__ import annotations

import re
from typing import Any

from tfexp.core import dtypes, errors
from tfexp.core.kernel import Ref
from tfexp.core.shape import dims_text
from tfexp.plan.plan import Plan, Step
from tfexp.plan.specialise import refusal

_CLASSES: tuple[tuple[type[BaseException], type[errors.OpError]], ...] = (
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
    (FileNotFoundError, errors.NotFoundError),
    (FileExistsError, errors.AlreadyExistsError),
    (PermissionError, errors.PermissionDeniedError),
    (ValueError, errors.InvalidArgumentError),
    (TypeError, errors.InvalidArgumentError),
    (LookupError, errors.InvalidArgumentError),
    (ArithmeticError, errors.InvalidArgumentError),
    (OSError, errors.UnknownError),
)


# NumPy's words when element-wise operands do not fit, which TensorFlow's users look for in TensorFlow's words.
_BROADCAST = re.compile(
    r"operands could not be broadcast together with shapes \(([\d,]*)\) \(([\d,]*)\)"
    r"|cannot be broadcast to a single shape\.  Mismatch is between arg \d+ with shape \(([\d, ]*)\) and arg \d+ with "
    r"shape \(([\d, ]*)\)"
)


def _text(error: Exception) -> str:
    shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
    if isinstance(error, MemoryError) and shape is not None and dtype is not None:  # NumPy's, with what it could not make
        return f"OOM when allocating tensor with shape{dims_text(shape)} and type {dtypes.as_dtype(dtype)._proto_name}"
    found = _BROADCAST.search(str(error))
    if found is None:
        return str(error)
    x, y = (dims.replace(" ", "").rstrip(",") for dims in found.groups() if dims is not None)
    return f"Incompatible shapes: [{x}] vs. [{y}]"


def uninitialized(ref: Ref) -> errors.OpError:
    return errors.FailedPreconditionError(None, None, ref.no_value())


def as_op_error(error: Exception, node_name: str, origin: Any) -> errors.OpError:
    """`error` as an OpError of that node; the message ends with `[[{{node NAME}}]]`."""
    where = f"\n\t [[{{{{node {node_name}}}}}]]"
    if isinstance(error, errors.OpError):
        if error.op is not None or error.message.endswith("]]"):
            return error
        return _make(type(error), origin, error.message + where, error.error_code)
    for kind, cls in _CLASSES:
        if isinstance(error, kind):
            return _make(cls, origin, f"{_text(error)}{where}", 0)
    return errors.InternalError(
        None if origin is None else origin.node_def, origin, f"{type(error).__name__}: {error}{where}"
    )


def as_step_error(error: Exception, plan: Plan, step: Step) -> errors.OpError:
    """`error` as an OpError of the step's node."""
    if speaks_python(error):
        words = refusal(step, plan.slots)
        if words is not None:
            error = errors.InvalidArgumentError(None, None, words)
    return as_op_error(error, step.name, step.origin)


def speaks_python(error: Exception) -> bool:
    """Whether Python or NumPy stumbled over the kernel's inputs, in words that say nothing of the op. Kernels refuse with
    ValueErrors and OpErrors of their own."""
    return isinstance(error, (TypeError, AttributeError, LookupError))


def as_eager_error(error: Exception, op_type: str) -> errors.OpError:
    """The same where there is no node, in eager execution; the message ends with `[Op:TYPE]`."""
    found = as_op_error(error, op_type, None)
    text = found.message.partition("\n\t [[{{node")[0]
    return _make(type(found), None, f"{text} [Op:{op_type}]", found.error_code)


def _make(cls: type[errors.OpError], origin: Any, message: str, code: int) -> errors.OpError:
    node_def = None if origin is None else origin.node_def
    if cls is errors.OpError:
        return errors.OpError(node_def, origin, message, code)
    return cls(node_def, origin, message)
