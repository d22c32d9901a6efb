"""How an optimizer's rule becomes ops that update variables in place, whole (`Apply…`) or by rows (`SparseApply…`).

A rule is a function of arrays in the order of the op's inputs: the variable's buffer and its slots' (which it updates),
scalars and the gradient as the signature has them, then scratch arrays of the gradient's shape and dtype. It is
element-wise, so it may be called for blocks of a variable: blocks keep the temporaries in cache.

With `use_locking`, and always by handles, updates of a variable and its slots are done one after the other. Without it,
steps that update a variable at once may lose some of what the others do, as in TensorFlow.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tfexp.core import workers
from tfexp.core.errors import FailedPreconditionError, InvalidArgumentError
from tfexp.core.kernel import BindRequest, Call, Ref
from tfexp.core.merged_shape import merged
from tfexp.core.op import Op, define_op
from tfexp.core.shape import TensorShape, dims_text
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.index_range import are_within
from tfexp.ops.resource_state import variable_op
from tfexp.ops.shape_rules import merged_dims, with_rank

BLOCK = 1 << 16  # elements
_BLOCKS_WORTH_SHARING = 4

Step = Callable[..., None]

_NUMBER = (
    "float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,"
    "uint32,uint64"
)


@dataclass(frozen=True)
class Rule:
    """`step` (see the module's docstring; attrs of the op by keyword), `scratch`: how many scratch arrays it takes.

    `static`: the scalars by whose values it decides what to do (`core.kernel.Kernel`); None when it cannot be compiled.
    """

    step: Step
    scratch: int
    static: tuple[str, ...] | None = None

    def with_attrs(self, op: Op, attrs: dict[str, Any]) -> Step:
        flags = {key: attrs[key] for key in op.attrs if key not in ("T", "Tindices", "use_locking")}
        return functools.partial(self.step, **flags) if flags else self.step


@dataclass(frozen=True)
class Layout:
    """Where an op's inputs are: the first `refs` are the variable and its slots, `gradient` is the gradient's position."""

    refs: int
    gradient: int
    names: tuple[str, ...]

    def scalars(self, inputs: Sequence[Any], sparse: bool) -> Iterator[tuple[str, Any]]:
        """(name, input) of those that are neither variables nor gradient nor its indices."""
        skipped = range(self.gradient, self.gradient + 2) if sparse else range(self.gradient, self.gradient + 1)
        for position in range(self.refs, len(self.names)):
            if position not in skipped:
                yield self.names[position], inputs[position]


@dataclass(frozen=True)
class Form:
    """An op of a rule in two forms: on reference variables, which some rules lack, and on handles of resource variables."""

    of_references: Op | None
    of_handles: Op
    variables: int

    def __call__(self, *inputs: Any, use_locking: bool = False, **attrs: Any) -> Any:
        """The node for these variables, all of the first one's kind, and other inputs: a reference, or an Operation."""
        attrs["use_locking"] = use_locking
        if getattr(inputs[0], "handle", None) is None:
            if self.of_references is None:
                raise TypeError(f"{self.of_handles.name} updates resource variables only, and {inputs[0]!r} is none")
            return self.of_references(*inputs, **attrs)
        handles = [variable.handle for variable in inputs[: self.variables]]
        return self.of_handles(*handles, *inputs[self.variables :], **attrs)

    def operation(self, *inputs: Any, **attrs: Any) -> Operation | None:
        """The same, the Operation in any case; None where ops run at once."""
        result = self(*inputs, **attrs)
        return result._op if isinstance(result, Tensor) else result  # type: ignore[no-any-return]

    @property
    def ops(self) -> list[Op]:
        return [self.of_handles] if self.of_references is None else [self.of_references, self.of_handles]


class Updates(NamedTuple):
    """The two ops of a rule."""

    dense: Form
    sparse: Form


def define_dense(name: str, refs: str, others: str, rule: Rule, attrs: str = "", on_references: bool = True) -> Form:
    """`Apply<name>` (unless `on_references` is False) and `ResourceApply<name>`. Not differentiable.

    `refs`: names of the variable and its slots; `others`: the other inputs, in order, one of them `grad` or `delta`;
    `name:type` for one whose type is not the variable's.
    """
    attrs = f"{{T: type in [{_NUMBER}]; use_locking: bool = false{attrs}}}"
    update = functools.partial(_update_dense, rule)
    form = _define(f"Apply{name}", refs, others, attrs, _dense_shape, update, rule, on_references)
    for op in form.ops:
        op.bind(functools.partial(_bind_dense, op, _layout(op, refs), rule))
    return form


def define_sparse(name: str, refs: str, others: str, rule: Rule, attrs: str = "", on_references: bool = True) -> Form:
    """`SparseApply<name>` and `ResourceSparseApply<name>`, with `indices` behind the gradient; as `define_dense`."""
    others = others.replace("grad", "grad indices:Tindices", 1)
    attrs = f"{{T: type in [{_NUMBER}]; Tindices: type in [int32,int64]; use_locking: bool = false{attrs}}}"
    update = functools.partial(_update_rows, rule)
    form = _define(f"SparseApply{name}", refs, others, attrs, _sparse_shape, update, None, on_references)
    if rule.static is not None:
        for op in form.ops:
            _attach_for_rows(op, _layout(op, refs), rule)
    return form


def _attach_for_rows(op: Op, layout: Layout, rule: Rule) -> None:
    @op.kernel("ROWS")
    def _(ctx: Any, *inputs: Any, **attrs: Any) -> None:
        others = [*inputs[layout.refs : layout.gradient + 1], *inputs[layout.gradient + 2 :]]
        scratch = [np.empty_like(inputs[layout.gradient]) for _ in range(rule.scratch)]
        rule.with_attrs(op, attrs)(*(ref.value for ref in inputs[: layout.refs]), *others, *scratch)


def _define(
    name: str, refs: str, others: str, attrs: str, shape_rule: Any, update: Any, rule: Rule | None, on_references: bool
) -> Form:
    of_handles = variable_op(f"Resource{name}({_arguments(refs, 'resource', others)}) -> () {attrs} #stateful")
    layout = _layout(of_handles, refs)
    of_references = None
    if on_references:
        of_references = op = define_op(f"{name}({_arguments(refs, 'ref T', others)}) -> (out: ref T) {attrs}")
        op.shape(lambda *shapes: shape_rule(layout, shapes))
        op.kernel("CPU")(lambda ctx, *inputs, **attrs: _run(update, op, layout, inputs, attrs))

    @of_handles.shape
    def _(*shapes: Any) -> None:
        shape_rule(layout, [*(shape.of_handle for shape in shapes[: layout.refs]), *shapes[layout.refs :]])

    @of_handles.kernel("CPU")
    def _(ctx: Any, *inputs: Any, **attrs: Any) -> None:
        _run(update, of_handles, layout, inputs, attrs)

    form = Form(of_references, of_handles, layout.refs)
    if rule is not None and rule.static is not None:
        for one in form.ops:
            _attach_compiled(one, layout, rule)
    return form


def _locks(op: Op, attrs: dict[str, Any]) -> bool:
    return op.on_variables or attrs["use_locking"]


def _run(update: Any, op: Op, layout: Layout, inputs: Sequence[Any], attrs: dict[str, Any]) -> Any:
    with inputs[0].updating if _locks(op, attrs) else contextlib.nullcontext():
        return update(op, layout, inputs, attrs)


def _attach_compiled(op: Op, layout: Layout, rule: Rule) -> None:
    @op.kernel("XLA", static=rule.static or ())
    def _(jax: Any, *inputs: Any, **attrs: Any) -> Any:
        scratch = [np.empty_like(inputs[layout.gradient]) for _ in range(rule.scratch)]
        rule.with_attrs(op, attrs)(*(ref.value for ref in inputs[: layout.refs]), *inputs[layout.refs :], *scratch)
        return inputs[0] if op.outputs else None


def updates(
    name: str,
    refs: str,
    others: str,
    *,
    scratch: int,
    attrs: str = "",
    static: tuple[str, ...] | None = None,
    on_references: bool = True,
) -> Callable[[Step], Updates]:
    """Decorator: both ops of one rule, of the same signature but for `indices`."""

    def attach(step: Step) -> Updates:
        rule = Rule(step, scratch, static)
        dense, sparse = (define(name, refs, others, rule, attrs, on_references) for define in (define_dense, define_sparse))
        return Updates(dense, sparse)

    return attach


def _arguments(refs: str, kind: str, others: str) -> str:
    typed = [name.partition(":") for name in others.split()]
    return ", ".join([f"{ref}: {kind}" for ref in refs.split()] + [f"{n}: {own or 'T'}" for n, _, own in typed])


def _layout(op: Op, refs: str) -> Layout:
    names = tuple(arg.name for arg in op.inputs)
    return Layout(len(refs.split()), names.index("delta" if "delta" in names else "grad"), names)


# --- shapes ------------------------------------------------------------------------------------------------------------


def _dense_shape(layout: Layout, shapes: Sequence[TensorShape]) -> TensorShape:
    """Variable, slots and gradient have one shape; everything else is a scalar."""
    shape = _slots_shape(layout, shapes)
    for _, scalar in layout.scalars(shapes, sparse=False):
        with_rank(scalar, 0)
    return merged(shape, shapes[layout.gradient])


def _slots_shape(layout: Layout, shapes: Sequence[TensorShape]) -> TensorShape:
    shape = shapes[0]
    for slot in shapes[1 : layout.refs]:
        shape = merged(shape, slot)
    return shape


def _sparse_shape(layout: Layout, shapes: Sequence[TensorShape]) -> TensorShape:
    """As `_dense_shape`, but the gradient has a row for each index."""
    shape = _slots_shape(layout, shapes)
    for _, scalar in layout.scalars(shapes, sparse=True):
        with_rank(scalar, 0)
    grad, indices = shapes[layout.gradient], with_rank(shapes[layout.gradient + 1], 1)
    if grad.rank == 0:
        raise ValueError("Argument grad must not be a scalar. Got grad with rank 0")
    if grad.known_dims is not None:
        merged_dims((indices.known_dims or (None,))[0], grad.known_dims[0])
        merged(shape, TensorShape([None, *grad.known_dims[1:]]))
    return shape


# --- whole variables ---------------------------------------------------------------------------------------------------


def _buffers(layout: Layout, inputs: Sequence[Any]) -> list[np.ndarray]:
    buffers: list[np.ndarray] = []
    for name, ref in zip(layout.names, inputs[: layout.refs], strict=False):
        if ref.value is None:
            raise FailedPreconditionError(None, None, ref.no_value())
        if buffers and ref.value.shape != buffers[0].shape:
            raise _mismatch(f"var and {name}", buffers[0].shape, ref.value.shape)
        buffers.append(ref.value)
    return buffers


def _mismatch(what: str, first: Sequence[int], second: Sequence[int]) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, f"{what} do not have the same shape{dims_text(first)} {dims_text(second)}")


def _check_scalars(layout: Layout, inputs: Sequence[Any], sparse: bool) -> None:
    for name, value in layout.scalars(inputs, sparse):
        if np.ndim(value):
            raise InvalidArgumentError(None, None, f"{name} is not a scalar: {dims_text(np.shape(value))}")


def _update_dense(rule: Rule, op: Op, layout: Layout, inputs: Sequence[Any], attrs: dict[str, Any]) -> Ref:
    buffers = _buffers(layout, inputs)
    grad = np.asarray(inputs[layout.gradient])
    if grad.shape != buffers[0].shape:
        raise _mismatch(f"var and {layout.names[layout.gradient]}", buffers[0].shape, grad.shape)
    _check_scalars(layout, inputs, sparse=False)
    scratch = [np.empty(min(grad.size, BLOCK), grad.dtype) for _ in range(rule.scratch)]
    between, after = inputs[layout.refs : layout.gradient], inputs[layout.gradient + 1 :]
    _in_blocks(rule.with_attrs(op, attrs), buffers, between, grad, after, scratch)
    target: Ref = inputs[0]
    return target


def _in_blocks(
    step: Step,
    buffers: Sequence[np.ndarray],
    between: Sequence[Any],
    grad: np.ndarray,
    after: Sequence[Any],
    scratch: Sequence[np.ndarray],
) -> None:
    flat = [buffer.reshape(-1) for buffer in buffers]
    flat_grad = grad.reshape(-1)
    size = flat_grad.size

    def work(part: int, begin: int, end: int) -> None:
        # A thread of its own needs scratch of its own.
        own = [workers.scratch(f"update{i}", s.shape, s.dtype) for i, s in enumerate(scratch)] if part else scratch
        for start in range(begin * BLOCK, min(end * BLOCK, size), BLOCK):
            stop = min(start + BLOCK, size)
            step(
                *[array[start:stop] for array in flat],
                *between,
                flat_grad[start:stop],
                *after,
                *[array[: stop - start] for array in own],
            )

    blocks = -(-size // BLOCK)
    if workers.are_alone() and blocks >= _BLOCKS_WORTH_SHARING:
        workers.share(work, blocks)
    else:
        work(0, 0, blocks)


def _bind_dense(op: Op, layout: Layout, rule: Rule, node: BindRequest) -> Call | None:
    shape = node.input_shapes[layout.gradient].known_dims
    if shape is None or None in shape or node.input_dtypes[layout.gradient].name not in ("float32", "float64"):
        return None
    # Of what a handle stands for, the call itself asks.
    if not op.on_variables and any(s.known_dims != shape for s in node.input_shapes[: layout.refs]):
        return None
    if any(s.rank != 0 for _, s in layout.scalars(node.input_shapes, sparse=False)):
        return None
    size = node.input_shapes[layout.gradient].num_elements() or 0
    step = rule.with_attrs(op, node.attrs)
    known: tuple[int, ...] = shape  # type: ignore[assignment]
    function = _whole(step, layout, known) if size <= BLOCK else _blocked(step, layout, known)
    if _locks(op, node.attrs):
        function = _one_at_a_time(function)
    work = (known if size <= BLOCK else (BLOCK,), node.input_dtypes[layout.gradient].as_numpy_dtype)
    return Call(function, scratch=(work,) * rule.scratch)


def _one_at_a_time(function: Callable[..., Ref]) -> Callable[..., Ref]:
    def alone(ref: Ref, *others: Any) -> Ref:
        ref.updating.acquire()  # a with statement takes twice the time
        try:
            return function(ref, *others)
        finally:
            ref.updating.release()

    return alone


def _refuse_shape(shape: tuple[int, ...], *refs: Ref) -> None:
    for ref in refs:
        if ref.value is not None and ref.value.shape != shape:
            raise _mismatch(f"{ref.name} and its gradient", ref.value.shape, shape)


def _whole(step: Step, layout: Layout, shape: tuple[int, ...]) -> Callable[..., Ref]:
    """The rule on all elements at once; one function for each number of slots, as a loop over them would cost more."""

    def plain(ref: Ref, *others: Any) -> Ref:
        var: Any = ref.value
        if var.shape != shape:
            _refuse_shape(shape, ref)
        step(var, *others)
        return ref

    def one_slot(ref: Ref, first: Ref, *others: Any) -> Ref:
        var, a = ref.value, first.value
        if not var.shape == a.shape == shape:  # type: ignore[union-attr]
            _refuse_shape(shape, ref, first)
        step(var, a, *others)
        return ref

    def two_slots(ref: Ref, first: Ref, second: Ref, *others: Any) -> Ref:
        var, a, b = ref.value, first.value, second.value
        if not var.shape == a.shape == b.shape == shape:  # type: ignore[union-attr]
            _refuse_shape(shape, ref, first, second)
        step(var, a, b, *others)
        return ref

    def three_slots(ref: Ref, first: Ref, second: Ref, third: Ref, *others: Any) -> Ref:
        var, a, b, c = ref.value, first.value, second.value, third.value
        if not var.shape == a.shape == b.shape == c.shape == shape:  # type: ignore[union-attr]
            _refuse_shape(shape, ref, first, second, third)
        step(var, a, b, c, *others)
        return ref

    return (plain, one_slot, two_slots, three_slots)[layout.refs - 1]


def _blocked(step: Step, layout: Layout, shape: tuple[int, ...]) -> Callable[..., Ref]:
    refs, gradient, count = layout.refs, layout.gradient, len(layout.names)

    def blocked(*inputs: Any) -> Ref:
        buffers = [ref.value for ref in inputs[:refs]]
        if any(buffer.shape != shape for buffer in buffers):
            _refuse_shape(shape, *inputs[:refs])
        between, after = inputs[refs:gradient], inputs[gradient + 1 : count]
        _in_blocks(step, buffers, between, inputs[gradient], after, inputs[count:])
        target: Ref = inputs[0]
        return target

    return blocked


# --- rows --------------------------------------------------------------------------------------------------------------


def _update_rows(rule: Rule, op: Op, layout: Layout, inputs: Sequence[Any], attrs: dict[str, Any]) -> Ref:
    buffers = _buffers(layout, inputs)
    position = layout.gradient
    grad, indices = np.asarray(inputs[position]), np.asarray(inputs[position + 1])
    _check_scalars(layout, inputs, sparse=True)
    _check_rows(buffers[0].shape, grad.shape, indices)
    between, after = inputs[layout.refs : position], inputs[position + 2 :]
    step = rule.with_attrs(op, attrs)
    for chosen in _rounds(indices):
        where, rows_grad = indices[chosen], grad[chosen]
        rows = [buffer[where] for buffer in buffers]
        step(*rows, *between, rows_grad, *after, *[np.empty_like(rows_grad) for _ in range(rule.scratch)])
        for buffer, row in zip(buffers, rows, strict=True):
            buffer[where] = row
    target: Ref = inputs[0]
    return target


def _check_rows(var: tuple[int, ...], grad: tuple[int, ...], indices: np.ndarray) -> None:
    """InvalidArgumentError unless the gradient has a row of the variable's kind for each index, all within the variable."""
    problem = None
    if len(var) < 1:
        problem = "var must be at least 1 dimensional"
    elif indices.ndim != 1:
        problem = "indices must be one-dimensional"
    elif len(grad) != len(var):
        problem = f"var and grad must have the same rank: {dims_text(var)} {dims_text(grad)}"
    elif grad[1:] != var[1:]:
        different = next(i for i in range(1, len(var)) if grad[i] != var[i])
        problem = f"var and grad must match in dimension {different}"
    elif grad[0] != indices.size:
        problem = "grad must be the same size as indices in the first dimension."
    elif not are_within(indices, var[0]):
        first = int(np.argmax((indices < 0) | (indices >= var[0])))
        problem = f"Index {indices[first]} at offset {first} in indices is out of range"
    if problem is not None:
        raise InvalidArgumentError(None, None, problem)


def _rounds(indices: np.ndarray) -> Iterator[Any]:
    """Positions in groups without a repeated row, earlier occurrences first: rows update as if one by one."""
    if not _repeats(indices):
        yield slice(None)
        return
    _, counts = np.unique(indices, return_counts=True)
    order = np.argsort(indices, kind="stable")
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    occurrence = np.empty(indices.size, np.int64)
    occurrence[order] = np.arange(indices.size) - np.repeat(starts, counts)
    for k in range(int(counts.max())):
        yield np.flatnonzero(occurrence == k)


def _repeats(indices: np.ndarray) -> bool:
    """Whether an index occurs twice. A set is quicker than sorting for a few."""
    if indices.size < 1000:
        return len(set(indices.tolist())) < indices.size
    ordered = np.sort(indices)
    return bool((ordered[1:] == ordered[:-1]).any())
