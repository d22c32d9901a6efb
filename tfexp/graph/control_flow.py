"""`tf.cond` as TF1 graphs have it: Switch into two branches, Merge out of them.

While a branch is built, its `CondContext` is the graph's control-flow context: every new node passes through `add_op`, which
leads outside values in through a Switch and ties nodes without inputs to the branch's pivot, so that only the taken branch
runs. Source: `tf.cond`, TF 1.15 (control flow v1).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfexp.core import dtypes, nest
from tfexp.core.op import get_op
from tfexp.graph import context_protos
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import IndexedSlices, constant, convert_to_tensor, convert_to_tensor_or_indexed_slices
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.handle_values import zeros_like_variable
from tfexp.graph.operation import Operation
from tfexp.graph.scope_names import is_exported, prepend_name_scope, strip_name_scope
from tfexp.graph.scopes import executing_eagerly, get_default_graph, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.graph.zeros import filled_with_zeros


def is_array(leaf: Any) -> bool:
    """Whether it is a TensorArray, which goes on by its flow."""
    return hasattr(leaf, "_with_flow")


def with_flow(leaf: Any, tensor: Any) -> Any:
    """The tensor for a leaf; for one that is a TensorArray, the array that goes on from it."""
    return leaf._with_flow(tensor) if is_array(leaf) else tensor


@contextlib.contextmanager
def in_context(context: ControlFlowContext | None) -> Iterator[None]:
    """Build in that branch or loop; None: in none at all."""
    graph = get_default_graph()
    saved = graph._get_control_flow_context()
    graph._set_control_flow_context(context)
    try:
        yield
    finally:
        graph._set_control_flow_context(saved)


class ControlFlowContext:
    """What a node belongs to while it is built inside a branch or a loop body."""

    def __init__(self) -> None:
        self._outer_context: ControlFlowContext | None = get_default_graph()._get_control_flow_context()
        self._nested_contexts: list[ControlFlowContext] = []
        if self._outer_context is not None:
            self._outer_context._nested_contexts.append(self)
        # Names of the tensors that need no way in any more, and what stands for those that got one.
        self._values: set[str] = set()
        self._external_values: dict[str, Tensor] = {}

    @property
    def outer_context(self) -> ControlFlowContext | None:
        return self._outer_context

    is_cond = False

    def while_context(self) -> Any:
        """The innermost loop that this is in (itself, if it is one), or None."""
        return None if self._outer_context is None else self._outer_context.while_context()

    def holds(self, op: Operation) -> bool:
        """Whether the node belongs to this context or to one inside it."""
        context = op._control_flow_context
        while context is not None and context is not self:
            context = context._outer_context
        return context is self

    def entered(self) -> contextlib.AbstractContextManager[None]:
        return in_context(self)

    def add_op(self, op: Operation) -> None:
        """Called for every node that is created in this context."""
        raise NotImplementedError

    def _add_own_op(self, op: Operation) -> None:
        """`add_op` for a node that is known to belong here."""
        raise NotImplementedError

    def add_value(self, tensor: Tensor) -> Tensor:
        """The tensor that stands for `tensor` inside this context."""
        raise NotImplementedError

    def add_inner_op(self, op: Operation) -> None:
        """Called for nodes of contexts inside this one."""
        if self._outer_context is not None:
            self._outer_context.add_inner_op(op)

    def exit_result(self, results: Sequence[Any]) -> None:
        """What leaves is a value of the context around this one."""
        if self._outer_context is not None:
            self._outer_context._values.update(t.name for t in results if isinstance(t, Tensor))

    def _mark_seen(self, tensors: Sequence[Tensor]) -> None:
        context: ControlFlowContext | None = self
        while context is not None:
            context._values.update(t.name for t in tensors)
            context = context._outer_context

    # --- as messages -------------------------------------------------------------------------------------------------

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The message that describes the context, with names below a scope; None where that does not hold it."""
        raise NotImplementedError

    def to_control_flow_context_def(self, context_def: Any, export_scope: str | None = None) -> None:
        """Fill a ControlFlowContextDef."""
        raise NotImplementedError


class CondContext(ControlFlowContext):
    """One branch of a cond: `pred`, the `pivot` that is alive when the branch is taken, and 1 (true) or 0 (false)."""

    is_cond = True

    def __init__(
        self,
        pred: Any = None,
        pivot: Any = None,
        branch: Any = None,
        name: str = "cond_text",
        context_def: Any = None,
        import_scope: str | None = None,
    ):
        super().__init__()
        if context_def is not None:
            self._take_over(context_def, import_scope)
            return
        self._name = get_default_graph().unique_name(name)
        self._pred, self._pivot, self._branch = pred, pivot, branch
        self._values |= {pred.name, pivot.name}
        self._external_values[pred.name] = pred
        pivot.op._set_control_flow_context(self)

    def _take_over(self, context_def: Any, import_scope: str | None) -> None:
        """Be the branch that a CondContextDef describes, in the default graph, whose nodes it names below a scope."""
        self._name = prepend_name_scope(context_def.context_name, import_scope)
        self._pred = context_protos.element(context_def.pred_name, import_scope)
        self._pivot = context_protos.element(context_def.pivot_name, import_scope)
        self._branch = context_def.branch
        context_protos.values_from_proto(self, context_def.values_def, import_scope)
        context_protos.nested_from_proto(self, context_def.nested_contexts, import_scope)

    @property
    def name(self) -> str:
        return self._name

    @property
    def pred(self) -> Tensor:
        return self._pred

    @property
    def pivot(self) -> Tensor:
        return self._pivot

    @property
    def branch(self) -> int:
        return self._branch

    def to_proto(self, export_scope: str | None = None) -> Any:
        if not is_exported(self.name, export_scope):
            return None
        from tfexp.formats.protos.control_flow import CondContextDef  # few graphs are exported

        definition = CondContextDef(
            context_name=strip_name_scope(self.name, export_scope),
            pred_name=strip_name_scope(self._pred.name, export_scope),
            pivot_name=strip_name_scope(self._pivot.name, export_scope),
            branch=self._branch,
            values_def=context_protos.values_to_proto(self, export_scope),
        )
        context_protos.nested_to_proto(self, definition, export_scope)
        return definition

    def to_control_flow_context_def(self, context_def: Any, export_scope: str | None = None) -> None:
        context_def.cond_ctxt.CopyFrom(self.to_proto(export_scope))

    @staticmethod
    def from_proto(context_def: Any, import_scope: str | None = None) -> CondContext:
        return CondContext(context_def=context_def, import_scope=import_scope)

    def add_value(self, tensor: Tensor) -> Tensor:
        if tensor.name in self._values:
            return self._external_values.get(tensor.name, tensor)
        self._values.add(tensor.name)
        inside = self._from_outer(tensor)
        graph = tensor.graph
        with graph.control_dependencies(None):
            inside = switch_ref_or_tensor(inside, self._pred)[self._branch]
            if self._outer_context is not None:
                self._outer_context.add_inner_op(inside.op)
        inside.op._set_control_flow_context(self)
        graph.prevent_fetching(inside.op)
        graph.prevent_feeding(inside)
        self._mark_seen([inside])
        self._external_values[tensor.name] = inside
        return inside

    def _from_outer(self, tensor: Tensor) -> Tensor:
        if self._outer_context is None:
            return tensor
        outside = self._outer_context.add_value(tensor)
        self._values.add(outside.name)
        self._external_values[outside.name] = outside
        return outside

    def add_op(self, op: Operation) -> None:
        self._add_own_op(op)

    def _add_own_op(self, op: Operation) -> None:
        if not op._inputs:
            if not any(self.holds(before) for before in op._control_inputs):
                op._add_control_input(self._pivot.op)
        else:
            for index, tensor in enumerate(op.inputs):
                inside = self.add_value(tensor)
                if inside is not tensor:
                    op._update_input(index, inside)
        self._mark_seen(op.outputs)
        op.graph.prevent_fetching(op)
        if self._outer_context is not None:
            self._outer_context.add_inner_op(op)

    def build_branch(self, function: Callable[[], Any]) -> tuple[Any, list[Any]]:
        """Call a branch function: (what it returned, as tensors and TensorArrays; the flat list of tensors to merge)."""
        original = function()
        if original is None:
            return None, []
        if not isinstance(original, Operation):
            original = nest.map_structure(
                lambda v: v if isinstance(v, Operation) or is_array(v) else convert_to_tensor_or_indexed_slices(v),
                original,
                expand_composites=True,
            )
        return original, [self._outgoing(leaf) for leaf in nest.flatten(original, expand_composites=True)]

    def _outgoing(self, value: Any) -> Any:
        if isinstance(value, Operation):
            # An operation has no value: the pivot, after it, stands for it.
            return with_dependencies([value], self._pivot)
        if is_array(value):
            value = value.flow
        if isinstance(value, IndexedSlices):
            shape = value.dense_shape
            return IndexedSlices(
                self._outgoing(value.values),
                self._outgoing(value.indices),
                None if shape is None else self._outgoing(shape),
            )
        value = get_default_graph().capture(value)
        if value.name in self._values:
            return self._external_values.get(value.name, value)
        self._values.add(value.name)
        inside = switch_ref_or_tensor(self._from_outer(value), self._pred)[self._branch]
        self._external_values[value.name] = inside
        return inside


context_protos.register_kind("cond_ctxt", CondContext.from_proto)


def switch_ref_or_tensor(data: Tensor, pred: Tensor, name: str = "Switch") -> tuple[Tensor, Tensor]:
    """(output_false, output_true): Switch, or RefSwitch for a reference; colocated with `data`."""
    with get_default_graph().colocate_with(data, ignore_existing=True):
        kind = "RefSwitch" if data.dtype._is_ref_dtype else "Switch"
        result: tuple[Tensor, Tensor] = get_op(kind)(data, pred, name=name)
        return result


def merge(inputs: Sequence[Any], name: str | None = None) -> Any:
    """Whichever of `inputs` is alive. IndexedSlices, SparseTensors and the like merge part by part, dense tensors beside
    IndexedSlices as slices of all rows. Source: `control_flow_ops.merge`."""
    if all(isinstance(v, Tensor) for v in inputs):
        kind = "RefMerge" if all(v.dtype._is_ref_dtype for v in inputs) else "Merge"
        return get_op(kind)(list(inputs), name=name)[0]
    with name_scope(name, "Merge"):
        if all(isinstance(v, nest.Composite) for v in inputs):
            return inputs[0].with_parts([merge(parts) for parts in zip(*(v.parts for v in inputs), strict=True)])
        inputs = [_as_indexed_slices(v) for v in inputs]
        if len({v.indices.dtype for v in inputs}) > 1:
            inputs = [IndexedSlices(v.values, get_op("Cast")(v.indices, DstT=dtypes.int64), v.dense_shape) for v in inputs]
        values, indices = merge([v.values for v in inputs]), merge([v.indices for v in inputs])
        shapes = [v.dense_shape for v in inputs]
        return IndexedSlices(values, indices, None if any(s is None for s in shapes) else merge(shapes))


def _as_indexed_slices(value: Any) -> IndexedSlices:
    """A dense tensor as slices of all its rows."""
    if isinstance(value, IndexedSlices):
        return value
    shape = get_op("Shape")(value)
    rows = shape[0]
    with name_scope(None, "range") as scope:
        indices = get_op("Range")(constant(0, name="start"), rows, constant(1, name="delta"), name=scope)
    return IndexedSlices(value, indices, shape)


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Callable[[], Any] | None = None,
    fn2: Callable[[], Any] | None = None,
) -> Any:
    """The result of `true_fn()` if the scalar bool `pred` is true at run time, else of `false_fn()`. `tf.cond`, TF 1.15.

    Both must return the same structure of the same dtypes; a list or tuple of one is unpacked unless `strict`. Raises
    TypeError or ValueError when they do not.
    """
    for argument, function, older in (("true_fn and fn1", true_fn, fn1), ("false_fn and fn2", false_fn, fn2)):
        if function is not None and older is not None:
            raise TypeError(f"cond(): {argument} may not be set simultaneously.")
    true_fn = _required("true_fn", fn1 if true_fn is None else true_fn)
    false_fn = _required("false_fn", fn2 if false_fn is None else false_fn)
    if executing_eagerly():
        result = true_fn() if pred else false_fn()
        return result if strict else _unpack_single(result)
    with name_scope(name, "cond", [pred]):
        if isinstance(pred, bool):
            raise TypeError("pred must not be a Python bool")
        pivot_true, pivot_false, pred = _pivots(pred)
        original_true, flat_true, context_true = _branch("true_fn", true_fn, pred, pivot_true, 1)
        original_false, flat_false, context_false = _branch("false_fn", false_fn, pred, pivot_false, 0)
        if not strict:
            original_true, original_false = _unpack_single(original_true), _unpack_single(original_false)
        _check_same_results(original_true, original_false, flat_true, flat_false)
        if not flat_true:
            raise ValueError("true_fn and false_fn must return at least one result.")
        merged = [merge([f, t]) for f, t in zip(flat_false, flat_true, strict=True)]
        if context_true.outer_context is None:
            for context in (context_true, context_false):
                get_default_graph().add_to_collection(GraphKeys.COND_CONTEXT, context)
        leaves = nest.flatten(original_true, expand_composites=True)
        arrays = [with_flow(leaf, flow) for leaf, flow in zip(leaves, merged, strict=True)]
        result = nest.pack_sequence_as(original_true, arrays, expand_composites=True)
        return result if strict else _unpack_single(result)


def _required(argument: str, function: Callable[[], Any] | None) -> Callable[[], Any]:
    """A branch's function; TypeError where it is missing, or none."""
    if function is None:
        raise TypeError(f"cond(): {argument} argument required")
    if not callable(function):
        raise TypeError(f"{argument} must be callable.")
    return function


def _pivots(pred: Any) -> tuple[Tensor, Tensor, Tensor]:
    """What is alive where `pred` is true, what is where it is false, and `pred` itself, for the Switches to come."""
    with name_scope("Switch") as switch:
        data, chosen = convert_to_tensor(pred, name="data"), convert_to_tensor(pred, name="pred")
        when_false, when_true = get_op("Switch")(data, chosen, name=switch)
    pivot_true = get_op("Identity")(when_true, name="switch_t")
    pivot_false = get_op("Identity")(when_false, name="switch_f")
    pred = get_op("Identity")(pred, name="pred_id")
    for tensor in (when_true, when_false, pivot_true, pivot_false, pred):
        get_default_graph().prevent_fetching(tensor.op)
    return pivot_true, pivot_false, pred


def _branch(
    argument: str, function: Callable[[], Any], pred: Tensor, pivot: Tensor, branch: int
) -> tuple[Any, list[Any], CondContext]:
    context = CondContext(pred, pivot, branch)
    with context.entered():
        original, flat = context.build_branch(function)
        if original is None:
            raise ValueError(f"{argument} must have a return value.")
        context.exit_result(flat)
    return original, flat, context


def _unpack_single(value: Any) -> Any:
    return value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value


def _check_same_results(original_true: Any, original_false: Any, flat_true: list[Any], flat_false: list[Any]) -> None:
    nest.assert_same_structure(original_true, original_false, expand_composites=True)
    for t, f in zip(flat_true, flat_false, strict=True):
        if t.dtype.base_dtype is not f.dtype.base_dtype:
            raise ValueError(
                "Outputs of true_fn and false_fn must have the same type: "
                f"{t.dtype.base_dtype.name}, {f.dtype.base_dtype.name}"
            )


def zeros_like_output(op: Operation, index: int) -> Tensor:
    """Zeros for an output of `op` that got no gradient; for a branch's Switch, zeros that exist when that output does."""
    value = op.outputs[index]
    context = op._control_flow_context
    if op.type not in ("Switch", "RefSwitch") or context is None:
        if value.dtype is dtypes.resource:
            return zeros_like_variable(value)
        zeros: Tensor = get_op("ZerosLike")(value, name="zeros_like")
        return zeros
    other_side = get_op("Switch")(op._inputs[0], context.pred, name="Switch")[1 - context.branch]
    pivot = get_op("Identity")(other_side, name="Identity")
    if value.dtype is dtypes.resource:
        with get_default_graph().control_dependencies([pivot]):
            return zeros_like_variable(other_side, get_op("VariableShape")(other_side))
    shape = get_op("Shape")(other_side, name="Shape")
    with get_default_graph().control_dependencies([pivot]):
        return filled_with_zeros(shape, value.dtype)
