"""Ops that look at values while a graph runs: Assert, CheckNumerics, Print."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import convert_n_to_tensor, convert_to_tensor
from tfexp.graph.dependencies import group, no_op, with_dependencies
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, executing_eagerly, get_default_graph, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, same_shape
from tfexp.ops.shape_rules import with_rank
from tfexp.ops.string_arrays import escaped


def summarize_array(value: Any, limit: int) -> str:
    """The first `limit` elements (all if negative) as TensorFlow's messages write them: `[1 2][3...]...`."""
    array = np.asarray(value)
    limit = array.size if limit < 0 else min(limit, array.size)
    flat = [_element_text(v) for v in array.reshape(-1)[:limit].tolist()]
    if array.ndim == 0:
        return flat[0] if flat else ""
    return _nested_text(flat, array.shape, 0) + ("..." if array.size > limit else "")


def _nested_text(elements: list[str], dims: Sequence[int], depth: int) -> str:
    if len(dims) == 1:
        cut = depth > 0 and 0 < len(elements) < dims[0]
        return " ".join(elements[: dims[0]]) + ("..." if cut else "")
    inner = int(np.prod(dims[1:]))
    text = ""
    for i in range(dims[0]):
        part = elements[i * inner : (i + 1) * inner]
        if not part:
            break
        text += f"[{_nested_text(part, dims[1:], depth + 1)}]"
    return text


def _element_text(value: Any) -> str:
    if isinstance(value, bytes):
        return escaped(value, ascii_only=True).decode()
    if isinstance(value, bool):
        return str(int(value))
    return f"{value:g}" if isinstance(value, float) else str(value)


# --- Assert -----------------------------------------------------------------------------------------------------------

assert_op = define_op("Assert(condition: bool, data: T) -> () {T: list(type) >= 1; summarize: int = 3} #stateful")
assert_op.not_differentiable()


@assert_op.shape
def _(condition: InputShape, data: list[InputShape]) -> None:
    with_rank(condition, 0)


@assert_op.kernel("CPU")
def _(ctx: Any, condition: Array, data: list[Array], *, summarize: int) -> None:
    if np.ndim(condition):
        raise ValueError(f"In[0] should be a scalar: {list(np.shape(condition))}")
    if not condition:
        parts = " ".join(f"[{summarize_array(value, summarize)}]" for value in data)
        raise InvalidArgumentError(None, None, f"assertion failed: {parts}")


def _eager_summary(value: Any, most: int) -> str:
    array = np.ravel(np.asarray(convert_to_tensor(value)))
    shown = [str(element) for element in (array if most < 0 else array[:most])]
    return ", ".join([*shown, "..."] if len(shown) < array.size else shown)


def Assert(condition: Any, data: Sequence[Any], summarize: int | None = None, name: str | None = None) -> Any:
    """An operation that fails the run, showing `data`, unless the scalar `condition` holds. Source: `tf.Assert`.

    Data other than strings and int32 is only brought in when the condition fails (a `cond`), for it may be on a GPU.
    """
    if executing_eagerly():
        if not condition:
            parts = "\n".join(_eager_summary(value, 3 if summarize is None else summarize) for value in data)
            raise InvalidArgumentError(None, None, f"Expected '{condition!s}' to be true. Summarized data: {parts}")
        return None
    with name_scope(name, "Assert", [condition, data]):
        tensors = convert_n_to_tensor(data)
        if all(t.dtype.base_dtype in (dtypes.string, dtypes.int32) for t in tensors):
            node: Operation = assert_op(condition, data, summarize=summarize, name="Assert")
            return node
        condition = convert_to_tensor(condition, name="Condition")

        def fail() -> Operation:
            failing: Operation = assert_op(condition, data, summarize=summarize, name="Assert")
            return failing

        guarded: Tensor = cond(condition, no_op, fail, name="AssertGuard")
        return guarded.op


# --- CheckNumerics ----------------------------------------------------------------------------------------------------

check_numerics_op = define_op(
    "CheckNumerics(tensor: T) -> (output: T) {T: type in [bfloat16,half,float,double]; message: string} #stateful"
)
check_numerics_op.shape(same_shape)


@check_numerics_op.kernel("CPU", view=True)
def _(ctx: Any, tensor: Array, *, message: str) -> Array:
    if not np.isfinite(tensor).all():
        kinds = [kind for kind, found in (("Inf", np.isinf(tensor).any()), ("NaN", np.isnan(tensor).any())) if found]
        raise InvalidArgumentError(None, None, f"{message} : Tensor had {' and '.join(kinds)} values")
    return tensor


@check_numerics_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    # Whose message it is stands there as the bytes that TensorFlow writes.
    message = f"Not a number (NaN) or infinity (Inf) values detected in gradient. {op.attrs['message'].encode()!r}"
    result: Tensor = check_numerics_op(grad, message=message)
    return result


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """`tensor`; the run fails with `message` if it has NaN or Inf. Source: `tf.check_numerics`."""
    result: Tensor = check_numerics_op(tensor, message=message, name=name)
    return result


def verify_tensor_all_finite(
    t: Any = None, msg: str | None = None, name: str | None = None, x: Any = None, message: str | None = None
) -> Tensor:
    """`t`, once it was checked to be free of NaN and Inf. Source: `tf.verify_tensor_all_finite`."""
    t, msg = x if t is None else t, message if msg is None else msg
    with name_scope(name, "VerifyFinite", [t]):
        t = convert_to_tensor(t, name="x")
        graph = get_default_graph()
        with graph.colocate_with(t):
            checked = check_numerics(t, message=msg or "")
            result: Tensor = with_dependencies([checked], t)
            return result


def add_check_numerics_ops() -> Operation:
    """An operation that checks every floating tensor that the graph has so far. Source: `tf.add_check_numerics_ops`.

    ValueError when the graph has a `tf.cond`, whose tensors need not exist.
    """
    checks: list[Operation] = []
    for op in get_default_graph().get_operations():
        for tensor in op.outputs:
            if tensor.dtype not in (dtypes.float16, dtypes.float32, dtypes.float64):
                continue
            if op._get_control_flow_context() is not None:
                raise ValueError("`tf.add_check_numerics_ops() is not compatible with TensorFlow control flow operations")
            with control_dependencies(checks):
                checks = [check_numerics(tensor, f"{op.name}:{tensor.value_index}").op]
    return group(*checks)


# --- Print ------------------------------------------------------------------------------------------------------------

print_op = define_op(
    "Print(input: T, data: U) -> (output: T) {T: type; U: list(type) >= 0; message: string = ''; first_n: int = -1; "
    "summarize: int = 3} #stateful"
)


@print_op.shape
def _(input: InputShape, data: list[InputShape]) -> TensorShape:
    return input


@print_op.kernel("CPU", view=True)
def _(ctx: Any, input: Array, data: list[Array], *, message: str, first_n: int, summarize: int) -> Array:
    printed = ctx.node_state.get("printed", 0)
    if first_n < 0 or printed < first_n:
        ctx.node_state["printed"] = printed + 1
        parts = "".join(f"[{summarize_array(value, summarize)}]" for value in data)
        sys.stderr.write(f"{message}{parts}\n")
    return input


@print_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [grad] + [None] * (len(op.inputs) - 1)


def Print(
    input_: Any,
    data: Sequence[Any],
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`input_`, and each run writes `data` to the error stream, at most `first_n` times. Source: `tf.Print`."""
    result: Tensor = print_op(input_, data, message=message, first_n=first_n, summarize=summarize, name=name)
    return result
