"""`tf.gradients`: reverse mode over the graph, making the nodes that TensorFlow makes, in its order. Source: TF 1.15.

The ops between `xs` and `ys` are visited so that an op comes after everything that consumes it; at each one the gradients
of its outputs are summed and the registered rule gives those of its inputs.
"""

from __future__ import annotations

import contextlib
import enum
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.op import get_gradient, get_op
from tfexp.graph.control_flow import zeros_like_output
from tfexp.graph.convert import (
    IndexedSlices,
    constant,
    convert_n_to_tensor,
    convert_n_to_tensor_or_indexed_slices,
)
from tfexp.graph.dependencies import tuple as tuple_
from tfexp.graph.gradient_sums import Gradient, add_by_device, add_pairwise, add_slices
from tfexp.graph.handle_values import zeros_like_variable
from tfexp.graph.loop_gradients import LoopGradient, LoopGradients
from tfexp.graph.loop_nodes import is_loop_enter, is_loop_exit, is_loop_switch, is_merge, while_context_of
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import executing_eagerly, get_default_graph, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.graph.zeros import constant_zeros

_TRAINABLE_KINDS = frozenset({"float16", "float32", "float64", "bfloat16", "complex64", "complex128", "resource", "variant"})


class AggregationMethod:
    """How `tf.gradients` sums the gradients that meet at a tensor."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def _checked_method(aggregation_method: int | None) -> int | None:
    accepted = (AggregationMethod.ADD_N, AggregationMethod.EXPERIMENTAL_TREE, AggregationMethod.EXPERIMENTAL_ACCUMULATE_N)
    if aggregation_method is not None and aggregation_method not in accepted:
        raise ValueError(
            f"Invalid `aggregation_method` specified {aggregation_method}. Accepted values are {list(accepted)}."
        )
    return aggregation_method


class UnconnectedGradients(enum.Enum):
    """What `tf.gradients` gives for an x that no y depends on. Functions take the values as well. TF 1.15."""

    NONE = "none"
    ZERO = "zero"

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        raise ValueError(f"Unknown value for unconnected_gradients: {value!r}")


def is_trainable(tensor_or_dtype: Any) -> bool:
    """Whether gradients flow through values of this type."""
    dtype: DType = tensor_or_dtype.dtype if isinstance(tensor_or_dtype, Tensor) else dtypes.as_dtype(tensor_or_dtype)
    return dtype.base_dtype.name in _TRAINABLE_KINDS


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
) -> list[Gradient | None]:
    """d sum(ys) / dx for each x: a Tensor, IndexedSlices, or None where no y depends on it. `tf.gradients`, TF 1.15.

    `grad_ys` weighs the ys (None: ones), `stop_gradients` are taken as constants. Raises LookupError for an op without a
    gradient, TypeError for types that have none, ValueError for lists whose lengths differ.
    """
    if executing_eagerly():
        raise RuntimeError("tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead.")
    ys, xs, stop_gradients = _as_list(ys), _as_list(xs), _as_list(stop_gradients)
    grad_ys = [None] * len(ys) if grad_ys is None else _as_list(grad_ys)
    unconnected_gradients = UnconnectedGradients(unconnected_gradients)
    with name_scope(name, "gradients", [*ys, *xs, *stop_gradients, *(g for g in grad_ys if g is not None)]) as scope:
        ys = convert_n_to_tensor_or_indexed_slices(ys, name="y")
        xs = convert_n_to_tensor(xs, name="x", as_ref=True)
        backward = _Backward(ys, xs, convert_n_to_tensor(stop_gradients, name="stop", as_ref=True))
        backward.scope = scope[:-1]
        backward.colocate = colocate_gradients_with_ops
        backward.gate = gate_gradients
        backward.aggregation_method = _checked_method(aggregation_method)
        backward.run(ys, grad_ys)
    if backward.loops is not None:
        backward.loops.finish()
    return [backward.gradient_of(x, unconnected_gradients) for x in xs]


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


class _Backward:
    """One reverse pass."""

    scope = ""
    colocate = False
    gate = False
    aggregation_method: int | None = None
    queue: deque[Operation]

    def __init__(self, ys: Sequence[Any], xs: Sequence[Tensor], stops: Sequence[Tensor]):
        self.xs = xs
        to_ops = [y.op for y in ys]
        reached = _reached_from(xs)
        # `between`: on some way from an x to a y, in the order of a breadth-first walk back from the ys.
        between: dict[Operation, None] = {}
        queue = deque(to_ops)
        while queue:
            op = queue.popleft()
            if op in reached and op not in between:
                between[op] = None
                queue.extend(t.op for t in op._inputs)
        self.between = between
        self.stops = stops
        self.pending: dict[Operation, int] = defaultdict(int)
        self.loops: LoopGradients | None = None
        # Gradients of an op's outputs: lists while they come in, the sum once the op's turn has come.
        self.grads: dict[Operation, list[Any]] = {}
        self.stop_ops: set[Operation] = set()

    def _count_consumers(self) -> None:
        self.loops = _loops_between(self.between)
        for op in self.between:
            for tensor in op._inputs:
                if tensor.op in self.between:
                    self.pending[tensor.op] += 1
        self.stop_ops = {x.op for x in self.xs if not any(self.pending[t.op] > 0 for t in x.op._inputs)}
        self.stop_ops.update(t.op for t in self.stops)

    def run(self, ys: Sequence[Any], grad_ys: Sequence[Any]) -> None:
        if len(grad_ys) != len(ys):
            raise ValueError(f"Length mismatch. Passed {len(grad_ys)} grad_ys for {len(ys)} ys")
        start = [self._initial(i, y, g) for i, (y, g) in enumerate(zip(ys, grad_ys, strict=True))]
        self._count_consumers()
        for y, grad in zip(ys, start, strict=True):
            self._add(y.values if isinstance(y, IndexedSlices) else y, grad)
        ready = [y.op for y in ys if self.pending[y.op] == 0 and y.op in self.between]
        self.queue = deque(dict.fromkeys(ready))
        if self.loops is not None:
            for exit_ in self.loops.unused_exits(self.pending, {y.op for y in ys}):
                if is_trainable(exit_):
                    self._set(exit_, self.loops.zeros_for_exit(exit_))
                    self.queue.append(exit_.op)
        while self.queue:
            op = self.queue.popleft()
            self._visit(op)
            for tensor in op._inputs:
                self._passed(tensor)

    def _passed(self, tensor: Tensor) -> None:
        """One consumer of `tensor` has had its turn; perhaps the op that makes it is next."""
        op = tensor.op
        self.pending[op] -= 1
        ready = self.pending[op] == 0
        if self.loops is not None and self.pending[op] > 0:
            # The Switch of a loop variable comes up twice: from outside the loop, and from its body.
            ready = is_loop_switch(op)
        if not ready or op not in self.between:
            return
        state = self.loops.of(op, before=False) if self.loops is not None and is_loop_exit(op) else None
        if state is None:
            self.queue.append(op)
            return
        state.deferred_exits.append(tensor)
        state.pending_exits -= 1
        if state.pending_exits == 0:
            self._exits_are_complete(state)

    def _exits_are_complete(self, state: LoopGradient) -> None:
        """All exits of a loop go on together: those without a gradient with zeros, if any of them has one."""
        assert self.loops is not None
        used = [e for e in state.deferred_exits if any(self.grads.get(e.op, []))]
        state.unused_exits.extend(e for e in state.deferred_exits if e not in used)
        self.queue.extend(e.op for e in used)
        for exit_ in state.unused_exits:
            if not used:
                self.queue.append(exit_.op)
            elif is_trainable(exit_):
                self._set(exit_, self.loops.zeros_for_exit(exit_))
                self.queue.append(exit_.op)

    def _initial(self, index: int, y: Any, grad: Any) -> Gradient:
        with self._colocated(y.op):
            if grad is None:
                if y.dtype.is_complex:
                    raise TypeError(f"Gradients of complex tensors must set grad_ys (y.dtype = {y.dtype!r})")
                return _ones_like(y, f"grad_ys_{index}")
            grad = convert_n_to_tensor_or_indexed_slices([grad], name="grad_y")[0]
            _check_type(y, grad)
            if isinstance(grad, IndexedSlices):
                return IndexedSlices(
                    get_op("Identity")(grad.values, name=f"grad_ys_{index}_values"),
                    get_op("Identity")(grad.indices, name=f"grad_ys_{index}_indices"),
                    grad.dense_shape,
                )
            result: Tensor = get_op("Identity")(grad, name=f"grad_ys_{index}")
            return result

    def _visit(self, op: Operation) -> None:
        with self._colocated(op):
            with self._inside_loop(op, before=True):
                out_grads = self._sum_output_gradients(op)
            rule = None
            connected = any(g is not None for g in out_grads)
            if connected and op not in self.stop_ops:
                rule = gradient_function(op)
            if rule is not None:
                with self._inside_loop(op, before=False):
                    self._differentiate(op, rule, out_grads)

    def _differentiate(self, op: Operation, rule: Any, out_grads: list[Gradient | None]) -> None:
        for i, grad in enumerate(out_grads):
            if grad is None and is_trainable(op.outputs[i]):
                out_grads[i] = self._zeros_for(op, i)
        with name_scope(op.name + "_grad"):
            in_grads = rule(op, *out_grads)
            in_grads = list(in_grads) if isinstance(in_grads, (list, tuple)) else [in_grads]
            if len(in_grads) != len(op._inputs):
                raise ValueError(
                    f"Num gradients {len(in_grads)} generated for op {op.name!r} ({op.type}) do not match num inputs "
                    f"{len(op._inputs)}"
                )
            if self.gate and sum(g is not None for g in in_grads) > 1:
                in_grads = _gated(in_grads)
        for i, (tensor, grad) in enumerate(zip(op._inputs, in_grads, strict=True)):
            if grad is None:
                continue
            if isinstance(grad, Tensor) and tensor.dtype is not dtypes.resource:
                _refine_shape(op, i, tensor, grad)
            self._add(tensor, grad)

    def _zeros_for(self, op: Operation, index: int) -> Tensor | None:
        if self.loops is not None and self.loops.of(op, before=False) is not None:
            return self.loops.zeros_like_output(op, index)
        return zeros_like_output(op, index)

    @contextlib.contextmanager
    def _inside_loop(self, op: Operation, before: bool) -> Iterator[None]:
        if self.loops is None:
            yield
        else:
            with self.loops.entered(op, before):
                yield

    def _set(self, tensor: Tensor, grad: Gradient) -> None:
        slots = self.grads.setdefault(tensor.op, [[] for _ in tensor.op.outputs])
        slots[tensor.value_index] = [grad]

    def _add(self, tensor: Tensor, grad: Gradient) -> None:
        slots = self.grads.setdefault(tensor.op, [[] for _ in tensor.op.outputs])
        slot = slots[tensor.value_index]
        if isinstance(slot, list):
            slot.append(grad)
        else:
            # The Switch of a loop variable has been visited with nothing for this output.
            slots[tensor.value_index] = [grad] if slot is None else [slot, grad]

    def _sum_output_gradients(self, op: Operation) -> list[Gradient | None]:
        slots = self.grads.setdefault(op, [[] for _ in op.outputs])
        slots[:] = [self._sum(op, slot) if isinstance(slot, list) else slot for slot in slots]
        return list(slots)

    def _sum(self, op: Operation, grads: list[Gradient]) -> Gradient | None:
        if len(grads) < 2:
            return grads[0] if grads else None
        if all(isinstance(g, Tensor) for g in grads):
            if self.aggregation_method in (
                AggregationMethod.EXPERIMENTAL_TREE,
                AggregationMethod.EXPERIMENTAL_ACCUMULATE_N,
            ):
                return add_pairwise(op, grads)
            return add_by_device(grads)
        return add_slices(grads)

    def gradient_of(self, x: Tensor, unconnected: UnconnectedGradients) -> Gradient | None:
        slots = self.grads.get(x.op)
        grad = slots[x.value_index] if slots is not None else None
        if grad is None or isinstance(grad, list):
            if unconnected is UnconnectedGradients.ZERO:
                return _zeros_like(x)
            return None
        return grad

    @contextlib.contextmanager
    def _colocated(self, op: Operation) -> Iterator[None]:
        if self.colocate:
            with get_default_graph().colocate_with(op):
                yield
        else:
            yield


def _loops_between(between: dict[Operation, None]) -> LoopGradients | None:
    """The loops that `between` leaves; all other exits of theirs join it."""
    loops: LoopGradients | None = None
    for op in list(between):
        if is_merge(op):
            # Whatever a loop variable starts with, the backward loop tells its gradient.
            between.update((t.op, None) for t in op._inputs if is_loop_enter(t.op) and is_trainable(t))
        if is_loop_exit(op) and while_context_of(op) is not None:
            loops = loops or LoopGradients()
            between.update((exit_.op, None) for exit_ in loops.add(op) if exit_.op not in between)
    return loops


def _reached_from(xs: Sequence[Tensor]) -> set[Operation]:
    """The ops that depend on `xs` by numbers that gradients flow through: floats, and integers from an integer x.

    TensorFlow 1.0 differentiated integers, later versions give None for them; the sources print such gradients.
    """
    reached: set[Operation] = set()
    for through_integers in (False, True):
        seen: set[Operation] = set()
        queue = deque(x.op for x in xs if x.dtype.is_integer is through_integers)
        while queue:
            op = queue.popleft()
            if op not in seen:
                seen.add(op)
                for tensor in op.outputs:
                    if is_trainable(tensor) or (through_integers and tensor.dtype.is_integer):
                        queue.extend(tensor._consumers)
        reached |= seen
    return reached


def gradient_function(op: Operation) -> Any:
    """The rule for `op`, None where gradients stop; LookupError, naming the op, when there is none."""
    if not op._inputs:
        return None
    try:
        return get_gradient(op.attrs.get("_gradient_op_type", op.type))
    except LookupError:
        raise LookupError(
            f"No gradient defined for operation {op.name!r} (op type: {op.type}), defined at {op.origin}. "
            "Use tf.stop_gradient or register one with tf.RegisterGradient."
        ) from None


def _ones_like(y: Any, name: str) -> Tensor:
    if isinstance(y, IndexedSlices):
        ones: Tensor = _ones_like(y.values, name)
        return IndexedSlices(ones, y.indices, y.dense_shape)  # type: ignore[return-value]
    shape = y.get_shape()
    if shape.is_fully_defined():
        dims = constant(shape.as_list(), dtype=dtypes.int32, name="Shape")
    else:
        dims = get_op("Shape")(y, name="Shape")
    with name_scope(name) as scope:
        one = constant(1, dtype=y.dtype.base_dtype, name="Const")
        result: Tensor = get_op("Fill")(dims, one, name=scope)
        return result


def _zeros_like(x: Tensor) -> Tensor:
    """As `tf.zeros_like` makes them: a constant where the shape is known, and small enough to be written down."""
    shape, dtype = x.get_shape(), x.dtype.base_dtype
    if dtype is dtypes.resource:
        return zeros_like_variable(x)
    if shape.is_fully_defined():
        return constant_zeros(shape, dtype, "zeros_like")
    zeros: Tensor = get_op("ZerosLike")(x, name="zeros_like")
    return zeros


def _check_type(y: Any, grad: Any) -> None:
    expected = y.dtype.base_dtype
    given = grad.dtype.base_dtype
    if expected.is_floating or expected.is_integer:
        if not (given.is_floating or given.is_integer):
            raise TypeError(
                f"Gradient type {given.name} generated for real or integer-valued tensor {y} with type {expected.name} must "
                "be real or integer"
            )
    elif expected.is_complex:
        if not given.is_complex:
            raise TypeError(
                f"Gradient type {given.name} generated for complex-valued tensor {y} with type {expected.name} must be real"
            )
    elif expected in (dtypes.variant, dtypes.resource):
        if given is not expected:
            raise TypeError(f"Gradient type {given.name} generated for {expected.name} tensor {y} must be {expected.name}")
    else:
        raise TypeError(f"Tensor {y} with type {expected.name} must be numeric to obtain a default gradient")


def _refine_shape(op: Operation, index: int, tensor: Tensor, grad: Tensor) -> None:
    try:
        grad.set_shape(tensor.get_shape())
    except ValueError:
        raise ValueError(
            "Incompatible shapes between op input and calculated input gradient. "
            f"Forward operation: {op.name}. Input index: {index}. Original input shape: {tensor.get_shape()}. "
            f"Calculated input gradient shape: {grad.get_shape()}"
        ) from None


def _gated(grads: list[Gradient | None]) -> list[Gradient | None]:
    """All of them wait for all, wherever the op that is differentiated is."""
    graph = get_default_graph()
    with graph.device(None), graph.colocate_with(None, ignore_existing=True):
        return tuple_(grads)
