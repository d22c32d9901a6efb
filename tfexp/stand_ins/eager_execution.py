"""`tensorflow.python.eager.execute` and `.core`: ops by name, on values, with attributes as a flat list. Source: TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from tfexp.core.dtypes import as_dtype
from tfexp.core.errors import InvalidArgumentError, NotFoundError, OpError, exception_type_from_error_code
from tfexp.core.op import Op, find_op
from tfexp.core.text import as_text
from tfexp.graph.convert import convert_n_to_tensor, convert_to_tensor
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor


def quick_execute(
    op_name: Any, num_outputs: int, inputs: Sequence[Any], attrs: Sequence[Any] | None, ctx: Any, name: str | None = None
) -> list[Tensor]:
    """The outputs of an op on these inputs, lists of inputs one after the other.

    attrs: names and values in turn, types as numbers; what is left out has its default. The op says how many outputs there
    are, and there is one context. NotFoundError for an op that there is not, InvalidArgumentError for an attribute that it
    does not have, else what the op raises.
    """
    op = find_op(as_text(op_name))
    if op is None:
        raise NotFoundError(None, None, f"Op type not registered '{as_text(op_name)}'")
    return get_default_graph().add_node(op.name, convert_n_to_tensor(inputs), _attributes(op, attrs or ()), name).outputs


execute = quick_execute


def _attributes(op: Op, attrs: Sequence[Any]) -> dict[str, Any]:
    if len(attrs) % 2:
        raise InvalidArgumentError(None, None, f"Expecting attrs tuple to have even length, not {len(attrs)}")
    values = {attr.name: attr.default for attr in op.attrs.values() if attr.has_default}
    for key, value in zip(map(as_text, attrs[::2]), attrs[1::2], strict=True):
        if key not in op.attrs:
            raise InvalidArgumentError(None, None, f"Attribute {key!r} does not exist for this operation: {op.name}")
        kind = op.attrs[key].kind
        values[key] = as_dtype(value) if kind == "type" else [*map(as_dtype, value)] if kind == "list(type)" else value
    return values


def args_to_matching_eager(values: Sequence[Any], ctx: Any, default_dtype: Any = None) -> tuple[int, list[Tensor]]:
    """(the number of their one type, the values as tensors of it): that of the first tensor among them, else the default."""
    dtype = next((value.dtype for value in values if isinstance(value, Tensor)), None)
    tensors = []
    for value in values:
        tensors.append(convert_to_tensor(value, dtype, preferred_dtype=default_dtype))
        dtype = tensors[0].dtype
    kind = tensors[0].dtype if tensors else as_dtype(default_dtype)
    return kind.as_datatype_enum, tensors


def convert_to_mixed_eager_tensors(values: Sequence[Any], ctx: Any) -> tuple[list[int], list[Tensor]]:
    """(the numbers of the types, the values as tensors), each of its own type."""
    tensors = [convert_to_tensor(value) for value in values]
    return [tensor.dtype.as_datatype_enum for tensor in tensors], tensors


def _status_to_exception(code: int, message: str) -> OpError:
    """The error of that code; UnknownError for a number that is none."""
    with contextlib.suppress(KeyError):
        return exception_type_from_error_code(code)(None, None, message)
    return exception_type_from_error_code(2)(None, None, message)


class _NotOkStatusException(Exception):  # noqa: N818 - TensorFlow's name
    """The status of an op that failed, before it is one of `tf.errors`."""

    def __init__(self, message: str, code: int):
        super().__init__(message, code)
        self.message, self.code = message, code


class CancellationManager:
    """Calls of functions that can be cancelled together. `eager.cancellation`."""

    def __init__(self) -> None:
        self._cancelled = False

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled

    def start_cancel(self) -> None:
        self._cancelled = True

    def get_cancelable_function(self, concrete_function: Any) -> Any:
        """The function, which is a CancelledError from when this is cancelled."""

        def cancelable(*args: Any, **kwargs: Any) -> Any:
            if self._cancelled:
                raise exception_type_from_error_code(1)(None, None, "The function was cancelled before it ran")
            return concrete_function(*args, **kwargs)

        return cancelable
