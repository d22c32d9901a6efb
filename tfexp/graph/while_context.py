"""The loop that nodes belong to while a loop's condition or body is built: `WhileContext`.

Every value from outside enters the loop through an Enter, so that it is there in each iteration; nodes that would not
depend on the iteration otherwise wait for the loop's pivot; whatever leaves, leaves through an Exit. Source: the graphs that
`tf.while_loop` makes, TF 1.15 (control flow v1).
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto import attr_value_pb2

from tfexp.core.op import get_op
from tfexp.graph import context_protos
from tfexp.graph.control_flow import ControlFlowContext, in_context, merge
from tfexp.graph.convert import constant
from tfexp.graph.loop_nodes import (
    is_loop_constant,
    is_loop_enter,
    is_loop_exit,
    loop_of,
    output_context,
    while_context_of,
)
from tfexp.graph.operation import Operation
from tfexp.graph.scope_names import is_exported, prepend_name_scope, strip_name_scope
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor

if TYPE_CHECKING:
    from tfexp.graph.loop_gradients import LoopGradient

_SHAPE_OPS = ("Shape", "Size", "Rank")


def enter(
    value: Tensor,
    frame: str,
    is_constant: bool = False,
    parallel_iterations: int = 10,
    name: str | None = None,
) -> Tensor:
    """`value` in a loop's frame: in its first iteration, or in all of them if `is_constant`."""
    op = get_op("RefEnter" if value.dtype._is_ref_dtype else "Enter")
    entered: Tensor = op(
        value, frame_name=frame, is_constant=is_constant, parallel_iterations=parallel_iterations, name=name
    )
    return entered


def leave(value: Tensor, name: str | None = None) -> Tensor:
    """`value`, as it is when the loop ends, outside of it."""
    left: Tensor = get_op("RefExit" if value.dtype._is_ref_dtype else "Exit")(value, name=name)
    return left


def next_iteration(value: Tensor, name: str | None = None) -> Tensor:
    """`value` for the iteration after this one."""
    result: Tensor = get_op("RefNextIteration" if value.dtype._is_ref_dtype else "NextIteration")(value, name=name)
    return result


def same(value: Tensor, name: str | None = None) -> Tensor:
    """`value`, a reference where it is one."""
    result: Tensor = get_op("RefIdentity" if value.dtype._is_ref_dtype else "Identity")(value, name=name)
    return result


def loop_switch(value: Tensor, pivot: Tensor) -> tuple[Tensor, Tensor]:
    """(at the end, in the body): the two ways of a loop variable."""
    result: tuple[Tensor, Tensor] = get_op("Switch")(value, pivot)
    return result


class WhileContext(ControlFlowContext):
    """One loop: its frame's name, its pivots, and the tensors that have entered it.

    `gradient` is set for the loop that runs another one backwards.
    """

    def __init__(
        self,
        maximum_iterations: Any = None,
        parallel_iterations: Any = 10,
        back_prop: bool = True,
        swap_memory: bool = False,
        name: str = "while_context",
        gradient: LoopGradient | None = None,
        context_def: Any = None,
        import_scope: str | None = None,
    ):
        super().__init__()
        self.gradient = gradient
        if context_def is not None:
            self._take_over(context_def, import_scope)
            return
        if not isinstance(parallel_iterations, Integral) or parallel_iterations < 1:
            raise ValueError(f"`parallel_iterations` must be a positive integer: {parallel_iterations}")
        self._name = get_default_graph().unique_name(name)
        self.maximum_iterations = maximum_iterations
        self.parallel_iterations = int(parallel_iterations)
        self.back_prop = back_prop
        self.swap_memory = swap_memory
        # In the condition, nodes wait for the first variable; in the body, for what the condition let through.
        self.pivot_for_pred: Tensor | None = None
        self.pivot_for_body: Tensor | None = None
        self.pivot: Tensor | None = None
        self.loop_exits: list[Tensor] = []
        self.loop_enters: list[Tensor] = []

    @property
    def name(self) -> str:
        return self._name

    def while_context(self) -> WhileContext:
        return self

    def control_pivot(self) -> Tensor:
        """What a node of this loop that has no input from it waits for."""
        pivot = self.pivot_for_body if self.pivot_for_body is not None else self.pivot_for_pred
        assert pivot is not None
        return pivot

    # --- as messages -------------------------------------------------------------------------------------------------

    def to_proto(self, export_scope: str | None = None) -> Any:
        if not is_exported(self.name, export_scope):
            return None
        from tfexp.formats.protos.control_flow import WhileContextDef  # few graphs are exported

        def name(tensor: Any) -> str:
            stripped: str = strip_name_scope(tensor.name, export_scope)
            return stripped

        definition = WhileContextDef(
            context_name=strip_name_scope(self.name, export_scope),
            parallel_iterations=self.parallel_iterations,
            back_prop=self.back_prop,
            swap_memory=self.swap_memory,
            pivot_for_pred_name=name(self.pivot_for_pred),
            pivot_for_body_name=name(self.pivot_for_body),
            pivot_name=name(self.pivot),
            loop_exit_names=[name(tensor) for tensor in self.loop_exits],
            loop_enter_names=[name(tensor) for tensor in self.loop_enters],
            values_def=context_protos.values_to_proto(self, export_scope),
        )
        if self.maximum_iterations is not None:
            definition.maximum_iterations_name = name(self.maximum_iterations)
        context_protos.nested_to_proto(self, definition, export_scope)
        return definition

    def to_control_flow_context_def(self, context_def: Any, export_scope: str | None = None) -> None:
        context_def.while_ctxt.CopyFrom(self.to_proto(export_scope))

    @staticmethod
    def from_proto(context_def: Any, import_scope: str | None = None) -> WhileContext:
        return WhileContext(context_def=context_def, import_scope=import_scope)

    def _take_over(self, context_def: Any, import_scope: str | None) -> None:
        """Be the loop that a WhileContextDef describes, in the default graph, whose nodes it names below a scope."""
        limit = context_def.maximum_iterations_name
        self._name = prepend_name_scope(context_def.context_name, import_scope)
        self.maximum_iterations = context_protos.element(limit, import_scope) if limit else None
        self.parallel_iterations = context_def.parallel_iterations
        self.back_prop = context_def.back_prop
        self.swap_memory = context_def.swap_memory
        self.pivot_for_pred = context_protos.element(context_def.pivot_for_pred_name, import_scope)
        self.pivot_for_body = context_protos.element(context_def.pivot_for_body_name, import_scope)
        self.pivot = context_protos.element(context_def.pivot_name, import_scope)
        self.loop_exits = [context_protos.element(name, import_scope) for name in context_def.loop_exit_names]
        self.loop_enters = [context_protos.element(name, import_scope) for name in context_def.loop_enter_names]
        context_protos.values_from_proto(self, context_def.values_def, import_scope)
        if import_scope:
            self._rename_frame()
        context_protos.nested_from_proto(self, context_def.nested_contexts, import_scope)

    def _rename_frame(self) -> None:
        """The loop's nodes in a frame of this context's name: what is still to come is made in that."""
        graph = get_default_graph()
        for name in self._values:
            op = graph.as_graph_element(name).op
            if is_loop_enter(op) and op._control_flow_context is self:
                op._set_attr("frame_name", attr_value_pb2.AttrValue(s=self._name.encode()))

    # --- values ------------------------------------------------------------------------------------------------------

    def add_value(self, tensor: Tensor) -> Tensor:
        if tensor.name in self._values:
            return self._external_values.get(tensor.name, tensor)
        self._values.add(tensor.name)
        recalled = self._recalled(tensor)
        if recalled is not None:
            self._external_values[tensor.name] = recalled
            return recalled
        outside = tensor if self._outer_context is None else self._outer_context.add_value(tensor)
        entered = self.enter(outside, is_constant=True)
        self._values.add(entered.name)
        self._external_values[tensor.name] = entered
        return entered

    def _recalled(self, tensor: Tensor) -> Tensor | None:
        """In a loop that runs another one backwards: what `tensor` was in the iteration that is undone."""
        state = current_loop_gradient()
        if state is None:
            return None
        source = while_context_of(tensor.op)
        if is_loop_exit(tensor.op) and source is not None:
            source = loop_of(source.outer_context)
        return state.real_value(tensor) if source is state.forward else None

    def enter(self, value: Tensor, is_constant: bool = False, name: str | None = None) -> Tensor:
        """An Enter for `value`, which is a value of the surrounding context, built as part of this one."""
        graph = get_default_graph()
        with graph.control_dependencies(None):
            entered = enter(value, self._name, is_constant, self.parallel_iterations, name)
            graph.prevent_feeding(entered)
            if self._outer_context is not None:
                self._outer_context.add_inner_op(entered.op)
        controls = [c for c in graph._control_inputs_for(entered.op._inputs) if self._is_around(c)]
        entered.op._add_control_inputs(controls)
        entered.op._control_flow_context = self
        for dependencies in graph._control_stack:
            dependencies.seen.add(entered.op)
        return entered

    def _is_around(self, op: Operation) -> bool:
        """Whether an Enter of this loop can wait for `op`: it is just outside, in no loop that is further out."""
        wanted, context = output_context(op), self._outer_context
        outermost = loop_of(context)
        while context is not wanted:
            if context is None or context is outermost:
                return False
            context = context.outer_context
        return True

    # --- nodes -------------------------------------------------------------------------------------------------------

    def add_op(self, op: Operation) -> None:
        forward = self._context_that_measures(op)
        if forward is not None:
            # Remembering a shape is cheaper than remembering the value: it is taken on the way forward.
            op._control_flow_context = forward
            forward._add_own_op(op)
        else:
            self._add_own_op(op)

    def _context_that_measures(self, op: Operation) -> Any:
        if op.type not in _SHAPE_OPS:
            return None
        state = current_loop_gradient()
        if state is None or while_context_of(op._inputs[0].op) is not state.forward:
            return None
        return op._inputs[0].op._control_flow_context

    def _add_own_op(self, op: Operation) -> None:
        if not op._inputs:
            inner, outer = self._split_controls(op)
            if not inner:
                op._add_control_input(self.control_pivot().op)
        else:
            for index, tensor in enumerate(op.inputs):
                inside = self.add_value(tensor)
                if inside is not tensor:
                    op._update_input(index, inside)
            _, outer = self._split_controls(op)
            if not op._control_inputs and all(is_loop_constant(t.op) for t in op._inputs):
                op._add_control_input(self.control_pivot().op)
        self._values.update(tensor.name for tensor in op.outputs)
        if outer:
            self._bring_in_controls(op, outer)
        if self._outer_context is not None or not is_loop_exit(op):
            op.graph.prevent_fetching(op)
            for tensor in op.outputs:
                op.graph.prevent_feeding(tensor)
        if self._outer_context is not None:
            self._outer_context.add_inner_op(op)

    def _split_controls(self, op: Operation) -> tuple[list[Operation], list[Operation]]:
        """The control inputs of this loop, and those from outside, which are taken off the node."""
        inner = [c for c in op._control_inputs if while_context_of(c) is self]
        outer = [c for c in op._control_inputs if while_context_of(c) is not self]
        if outer:
            op._remove_control_inputs(outer)
        return inner, outer

    def _bring_in_controls(self, op: Operation, outer: Sequence[Operation]) -> None:
        """A control edge cannot cross into a loop: the value of its source can, as a constant of the loop."""
        graph = op.graph
        with graph.control_dependencies(None), self.entered():
            brought = [get_op("Identity")(c.outputs[0]).op for c in outer if c.outputs]
        op._add_control_inputs(brought)

    def add_inner_op(self, op: Operation) -> None:
        super().add_inner_op(op)
        op.graph.prevent_fetching(op)

    # --- the skeleton of a loop --------------------------------------------------------------------------------------

    def close(self, merged: Tensor, value: Tensor) -> None:
        """Let `value` be what the variable that starts at `merged` is in the next iteration."""
        merged.op._update_input(1, value)

    def variable(self, initial: Tensor, name: str | None = None, merge_name: str | None = None) -> Tensor:
        """The Merge of a new loop variable that starts with `initial`; to be called inside the context."""
        entered = self.start(initial, name)
        merged: Tensor = merge([entered, entered], name=merge_name)
        return merged

    def start(self, initial: Tensor, name: str | None = None) -> Tensor:
        """The Enter of what starts with `initial`; to be called inside the context."""
        self.add_name(initial)
        entered = enter(initial, self._name, False, self.parallel_iterations, name)
        self.loop_enters.append(entered)
        return entered

    def add_name(self, tensor: Tensor) -> None:
        """Take `tensor` as it is: it needs no way in."""
        self._values.add(tensor.name)

    def leaves(self, value: Tensor, name: str | None = None) -> Tensor:
        """An Exit of this loop, known outside; to be called inside the context."""
        left = leave(value, name)
        self.loop_exits.append(left)
        self.exit_result([left])
        return left

    def forward_counter(self, outer: LoopGradient | None) -> tuple[Tensor, Tensor]:
        """Count the iterations: (the number of them, the count's NextIteration). Built in the context around the loop."""
        count = constant(0, dtype="int32", name="f_count")
        if outer is not None:
            # What an inner loop pushes in the outer loop's iteration i comes before what it pushes in i + 1.
            count.op._add_control_input(outer.forward_index.op._inputs[0].op)
        with self.entered():
            merged = self.variable(count, "f_count")
            assert self.pivot is not None
            at_end, in_body = loop_switch(merged, self.pivot)
            following = next_iteration(get_op("AddV2")(in_body, 1, name="Add"))
            self.close(merged, following)
            total = self.leaves(at_end, "f_count")
        return total, following

    def backward_counter(self, count: Tensor, outer: LoopGradient | None) -> Tensor:
        """Count down from `count`: the loop's condition and pivots. Returns the count's NextIteration."""
        one = constant(1, dtype="int32", name="b_count")
        with self.entered():
            merged = self.variable(count, "b_count")
            self.pivot_for_pred = merged
            more = get_op("GreaterEqual")(merged, one)
            self.pivot = get_op("LoopCond")(more, name="b_count")
            at_end, in_body = loop_switch(merged, self.pivot)
            self.pivot_for_body = index = get_op("Sub")(in_body, one)
            following = next_iteration(index)
            self.close(merged, following)
            final = leave(at_end, "b_count")
            self.loop_exits.append(final)
            if outer is not None:
                outer.grad_sync._add_control_input(final.op)
            self.exit_result([final])
        return following

    def accumulate(self, initial: Tensor, grad: Tensor) -> Tensor:
        """The sum of `initial` and of `grad` in every iteration, after the loop."""
        with self.entered():
            merged = self.variable(initial, "b_acc", "b_acc")
            assert self.pivot is not None
            at_end, in_body = loop_switch(merged, self.pivot)
            self.close(merged, next_iteration(get_op("AddV2")(in_body, grad, name="Add")))
            return self.leaves(at_end, "b_acc")

    def around(self) -> contextlib.AbstractContextManager[None]:
        """Build in the context around this loop."""
        return in_context(self._outer_context)


def current_loop_gradient() -> LoopGradient | None:
    """What the loop that is being built is the gradient of, if it runs another one backwards."""
    loop: WhileContext | None = loop_of(get_default_graph()._get_control_flow_context())
    return None if loop is None else loop.gradient


context_protos.register_kind("while_ctxt", WhileContext.from_proto)
