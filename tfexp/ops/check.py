"""Looking at values while a graph runs: `tf.Assert`, `tf.Print`, `tf.check_numerics`. Source: TF 1.15."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import define_op
from tfexp.core.shape import TensorShape
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import convert_n_to_tensor, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.control import no_op

assert_op = define_op("Assert(condition: bool, data: T) -> () {T: list(type) >= 1; summarize: int = 3} #stateful")


@assert_op.shape
def _(condition: TensorShape, data: list[TensorShape]) -> None:
    condition.with_rank(0)


@assert_op.kernel("CPU")
def _(ctx: Any, condition: Any, data: list[Any], *, summarize: int) -> None:
    if not condition:
        listed = " ".join(f"[{summarize_value(value, summarize)}]" for value in data)
        raise InvalidArgumentError(None, None, f"assertion failed: {listed}")


assert_op.not_differentiable()

print_op = define_op(
    "Print(input: T, data: U) -> (output: T) "
    "{T: type; U: list(type) >= 0; message: string = ''; first_n: int = -1; summarize: int = 3} #stateful"
)


@print_op.shape
def _(input_: TensorShape, data: list[TensorShape]) -> TensorShape:
    return input_


@print_op.kernel("CPU", view=True)
def _(ctx: Any, input_: Any, data: list[Any], *, message: str, first_n: int, summarize: int) -> Any:
    printed = ctx.node_state.get("printed", 0)
    if first_n < 0 or printed < first_n:
        ctx.node_state["printed"] = printed + 1
        listed = "".join(f"[{summarize_value(value, summarize)}]" for value in data)
        print(f"{message}{listed}", file=sys.stderr, flush=True)
    return input_


print_op.gradient(lambda op, grad: [grad] + [None] * (len(op.inputs) - 1))

check_numerics_op = define_op(
    "CheckNumerics(tensor: T) -> (output: T) {T: type in [bfloat16,half,float,double]; message: string} #stateful"
)


@check_numerics_op.shape
def _(tensor: TensorShape) -> TensorShape:
    return tensor


@check_numerics_op.kernel("CPU", view=True)
def _(ctx: Any, tensor: Any, *, message: str) -> Any:
    return _checked(tensor, message)


def _checked(tensor: Any, message: str) -> Any:
    if not np.isfinite(tensor).all():
        found = [name for name, test in (("Inf", np.isinf), ("NaN", np.isnan)) if test(tensor).any()]
        raise InvalidArgumentError(None, None, f"{message} : Tensor had {' and '.join(found)} values")
    return tensor


@check_numerics_op.bind
def _(node: BindRequest) -> Call:
    message = node.attrs["message"]
    return Call(lambda tensor: _checked(tensor, message), view=True)


@check_numerics_op.gradient
def _(op: Operation, grad: Tensor) -> Any:
    message = f"Not a number (NaN) or infinity (Inf) values detected in gradient. {op.attrs['message']}"
    return check_numerics_op(grad, message=message)


def summarize_value(value: Any, limit: int) -> str:
    """The first `limit` elements as TensorFlow prints them: `[1 2][3...]...`; all of them if `limit` is negative."""
    array = np.asarray(value)
    if array.ndim == 0:
        return _element(array[()])
    limit = array.size if limit < 0 else limit
    pieces: list[str] = []
    _write(array, limit, pieces, is_outermost=True)
    return "".join(pieces) + ("..." if array.size > limit else "")


def _write(array: np.ndarray, limit: int, pieces: list[str], is_outermost: bool) -> int:
    """Write up to `limit` elements; returns how many are left to write."""
    if array.ndim == 1:
        shown = array[:limit]
        pieces.append(" ".join(map(_element, shown)))
        if shown.size < array.size and not is_outermost:
            pieces.append("...")
        return limit - shown.size
    for row in array:
        if limit <= 0:
            break
        pieces.append("[")
        limit = _write(row, limit, pieces, is_outermost=False)
        pieces.append("]")
    return limit


def _element(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, np.complexfloating):
        return f"({_element(value.real)},{_element(value.imag)})"
    return str(value).removesuffix(".0")


def Assert(condition: Any, data: Any, summarize: int | None = None, name: str | None = None) -> Any:
    """The op that fails with InvalidArgumentError, printing `data`, unless `condition` holds. Source: `tf.Assert`.

    `summarize`: how many elements of each tensor are printed (3 if None).
    """
    summarize = 3 if summarize is None else summarize
    with name_scope(name, "Assert", [condition, data]):
        tensors = convert_n_to_tensor(data)
        if all(t.dtype.base_dtype in (dtypes.string, dtypes.int32) for t in tensors):
            # Nothing to copy from another device: no guard is needed.
            return assert_op(condition, data, summarize=summarize, name="Assert")
        condition = convert_to_tensor(condition, name="Condition")
        guarded = cond(
            condition, no_op, lambda: assert_op(condition, data, summarize=summarize, name="Assert"), name="AssertGuard"
        )
        return guarded.op


def Print(
    input_: Any,
    data: Any,
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`input_`, printing `message` and `data` on stderr when it is evaluated (the first `first_n` times). `tf.Print`."""
    return print_op(  # type: ignore[no-any-return]
        input_,
        data,
        message=message or "",
        first_n=-1 if first_n is None else first_n,
        summarize=3 if summarize is None else summarize,
        name=name,
    )


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """`tensor`; InvalidArgumentError with `message` when it has NaN or infinite values. Source: `tf.check_numerics`."""
    return check_numerics_op(tensor, message=message, name=name)  # type: ignore[no-any-return]
