"""Gradients of loops: another loop runs the iterations backwards, with what the forward loop pushed on stacks.

For every loop that gradients flow through there is a `LoopGradient`: a counter is added to the forward loop (`f_count`), and
a loop counts down from it (`b_count`). A value of the forward loop that a gradient needs is pushed on a stack in each
iteration and popped in reverse; constants are written down again, and what is the same in every iteration enters again.
Source: the graphs that `tf.gradients` makes of loops, TF 1.15.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from tfexp.core import dtypes
from tfexp.core.op import get_op
from tfexp.graph.control_flow import CondContext, in_context, switch_ref_or_tensor
from tfexp.graph.convert import constant
from tfexp.graph.handle_values import zeros_like_variable
from tfexp.graph.loop_nodes import (
    is_loop_exit,
    is_loop_switch,
    is_switch,
    loop_constant_of,
    loop_of,
    output_context,
    while_context_of,
)
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.graph.while_context import WhileContext, next_iteration
from tfexp.graph.zeros import constant_zeros, filled_with_zeros


class LoopGradient:
    """One forward loop, and the loop that runs it backwards."""

    def __init__(self, forward: WhileContext, outer: LoopGradient | None, calling: Any):
        self.forward = forward
        self.outer = outer
        self._calling = calling  # the context that tf.gradients was called in
        self._recalled: dict[str, Tensor] = {}
        self._sync: Operation | None = None
        self._forward_sync: Operation | None = None
        # The Merge that is the gradient of a loop variable's Switch.
        self.merges: dict[Operation, Tensor] = {}
        self.forward_exits = list(forward.loop_exits)
        self.pending_exits = len(self.forward_exits)
        self.deferred_exits: list[Tensor] = []
        self.unused_exits: list[Tensor] = []
        around = forward.outer_context if outer is None else outer.forward
        with in_context(around if around is not None else calling):
            count, self.forward_index = forward.forward_counter(outer)
        if outer is None:
            with in_context(around if around is not None else calling):
                self.context = self._make_context()
                self.index = self.context.backward_counter(count, None)
            return
        outer.forward.add_name(count)
        history = outer.push(count)
        with outer.context.entered():
            self.context = self._make_context()
            recalled = outer.pop(history, count)
            self.index = self.context.backward_counter(recalled, outer)

    def _make_context(self) -> WhileContext:
        forward = self.forward
        return WhileContext(
            forward.maximum_iterations,
            forward.parallel_iterations,
            forward.back_prop,
            forward.swap_memory,
            forward.name,
            self,
        )

    @property
    def grad_sync(self) -> Operation:
        """What the backward loop's next iteration waits for: everything that is popped in this one."""
        if self._sync is None:
            graph = get_default_graph()
            with graph.control_dependencies(None):
                self._sync = get_op("ControlTrigger")(name="b_sync")
            self._sync._control_flow_context = self.context
            self.index.op._add_control_input(self._sync)
            if self.context.outer_context is not None:
                self.context.outer_context.add_inner_op(self._sync)
        return self._sync

    @property
    def forward_sync(self) -> Operation:
        """What the forward loop's next iteration waits for: what the branches taken in this one have pushed."""
        if self._forward_sync is None:
            graph = get_default_graph()
            with graph.control_dependencies(None):
                self._forward_sync = get_op("ControlTrigger")(name="f_sync")
            self._forward_sync._control_flow_context = self.forward
            self.forward_index.op._add_control_input(self._forward_sync)
        return self._forward_sync

    # --- values of the forward loop ----------------------------------------------------------------------------------

    def push(self, value: Tensor, dead_branch: bool = False) -> Tensor:
        """Push `value` on a stack of its own in every iteration of the forward loop; returns the stack."""
        graph = get_default_graph()
        with graph.control_dependencies(None), in_context(self._calling), graph.colocate_with(value):
            size = constant(-1, dtype=dtypes.int32)
            stack: Tensor = get_op("StackV2")(size, elem_type=value.dtype.base_dtype, name="f_acc")
        # What surrounds the gradient may wait for the forward loop, which can then not wait for it.
        with graph.control_dependencies(None), in_context(self.context):
            entered = self.forward.add_value(stack)
        context = output_context(value.op)
        push = get_op("StackPushV2")
        if context is self.forward:
            with graph.control_dependencies(None), in_context(self.forward):
                pushed = push(entered, value, swap_memory=self.forward.swap_memory)
            self.forward_index.op._add_control_input(pushed.op)
        else:
            # `value` is in a branch of a cond in the loop: it is pushed when the branch is taken.
            if not isinstance(context, CondContext):
                raise TypeError(f"value {value.name!r} is not in a context of the loop {self.forward.name!r}")
            if dead_branch:
                with graph.control_dependencies(None), in_context(context.outer_context):
                    pushed = push(entered, value, swap_memory=self.forward.swap_memory)
                pushed.op._set_control_flow_context(context)
            else:
                with graph.control_dependencies(None), in_context(context):
                    pushed = push(entered, value, swap_memory=self.forward.swap_memory)
            self.forward_sync._add_control_input(pushed.op)
        # In iteration i + 1, nothing is pushed before everything of iteration i is.
        pushed.op._add_control_input(self.forward_index.op._inputs[0].op)
        return stack

    def remembered(self, value: Tensor, dead_branch: bool = False) -> Tensor:
        """`pop` what is pushed for it, as nodes of where tf.gradients was called; to be called inside the backward loop."""
        with in_context(self._calling):
            stack = self.push(value, dead_branch)
        return self.pop(stack, value, dead_branch)

    def pop(self, stack: Tensor, value: Tensor, dead_branch: bool = False) -> Tensor:
        """In the backward loop: `value` as it was in the iteration that is undone."""
        guard = self._branch_between(stack, value)
        with get_default_graph().control_dependencies(None), in_context(self.context):
            if guard is not None:
                branch = 1 - guard.branch if dead_branch else guard.branch
                stack = switch_ref_or_tensor(stack, self._recalled_predicate(guard))[branch]
            popped: Tensor = get_op("StackPopV2")(stack, elem_type=value.dtype.base_dtype)
            popped.set_shape(value.get_shape())
        if self.context.parallel_iterations > 1:
            self.grad_sync._add_control_input(popped.op)
        return popped

    def _branch_between(self, stack: Tensor, value: Tensor) -> CondContext | None:
        """The cond's branch that `value` is in but the stack is not."""
        around, context = stack.op._control_flow_context, value.op._control_flow_context
        while context is not None and context is not around:
            if isinstance(context, CondContext):
                return context
            context = context.outer_context
        return None

    def _recalled_predicate(self, branch: CondContext) -> Tensor:
        state: LoopGradient | None = self
        while state is not None:
            if branch.pred.name in state._recalled:
                return state._recalled[branch.pred.name]
            state = state.outer
        return branch.pred

    def real_value(self, value: Tensor) -> Tensor:
        """What stands for `value`, a tensor of the forward loop, in the backward loop."""
        if value.name not in self._recalled:
            self._recalled[value.name] = self._recall(value)
        return self._recalled[value.name]

    def _recall(self, value: Tensor) -> Tensor:
        current, state = value, self
        while True:
            entered = loop_constant_of(current)
            if entered is None:
                break
            # The same in every iteration: what it is outside enters the backward loop again.
            current = entered._inputs[0]
            if state.outer is None:
                return self.context.add_value(current)
            state = state.outer
        known = static_value(current) if current.op.type == "Const" else None
        if known is not None:
            return constant(known, dtype=current.dtype)
        recalled = state.remembered(current)
        return recalled if state is self else self.context.add_value(recalled)

    def predicate(self, pred: Tensor) -> Tensor:
        """What the predicate of a cond in the loop was in the iteration that is undone."""
        if pred.name not in self._recalled:
            self._recalled[pred.name] = self.remembered(pred)
        return self._recalled[pred.name]


class LoopGradients:
    """The loops that one reverse pass goes through."""

    def __init__(self) -> None:
        self._by_context: dict[WhileContext | None, LoopGradient] = {}
        self._calling = get_default_graph()._get_control_flow_context()

    def add(self, op: Operation) -> list[Tensor]:
        """Take note of the loop that `op` leaves; all exits of a loop that is new."""
        forward = while_context_of(op)
        if forward in self._by_context:
            return []
        outer = self._by_context.get(loop_of(forward.outer_context))
        state = LoopGradient(forward, outer, self._calling)
        self._by_context[forward] = state
        return state.forward_exits

    def of(self, op: Operation, before: bool) -> LoopGradient | None:
        """The loop that the gradients of `op`'s outputs (`before`) or of its inputs are in."""
        context: Any = while_context_of(op)
        if before and is_loop_exit(op) and context is not None:
            context = loop_of(context.outer_context)
        return self._by_context.get(context)

    @contextlib.contextmanager
    def entered(self, op: Operation, before: bool) -> Iterator[None]:
        """Build inside the backward loop that belongs there, if there is one."""
        state = self.of(op, before)
        if state is None:
            yield
            return
        with in_context(state.context):
            yield

    def unused_exits(self, pending: dict[Operation, int], targets: set[Operation]) -> list[Tensor]:
        """The exits that no y depends on, of loops that have others; taken note of as done."""
        found: list[Tensor] = []
        for state in self._by_context.values():
            for exit_ in state.forward_exits:
                if pending[exit_.op] == 0:
                    state.pending_exits -= 1
                    if exit_.op not in targets:
                        state.unused_exits.append(exit_)
                    if state.pending_exits == 0:
                        found.extend(state.unused_exits)
        return found

    def finish(self) -> None:
        """Give every backward variable its next value: zeros, where an iteration's value has none of the one before."""
        for state in self._by_context.values():
            for merged in state.merges.values():
                if merged.op._inputs[0] is not merged.op._inputs[1]:
                    continue
                start = merged.op._inputs[0]
                shape = start.get_shape()
                if shape.is_fully_defined():
                    with in_context(state.context):
                        following = next_iteration(constant(0, dtype=start.dtype, shape=shape.as_list()))
                else:
                    with in_context(state.context.outer_context):
                        zeros = filled_with_zeros(get_op("Shape")(start.op._inputs[0]), start.dtype)
                    with in_context(state.context):
                        following = next_iteration(zeros)
                state.context.close(merged, following)

    # --- zeros -------------------------------------------------------------------------------------------------------

    def zeros_for_exit(self, value: Tensor) -> Tensor:
        """The gradient of a loop's result that nothing depends on."""
        forward = while_context_of(value.op)
        around = forward.outer_context
        outer = self._by_context.get(loop_of(around))
        shape, dtype = value.get_shape(), value.dtype.base_dtype
        if outer is None:
            if shape.is_fully_defined():
                return constant_zeros(shape, dtype)
            zeros: Tensor = get_op("ZerosLike")(value, name="zeros_like")
            return zeros
        if shape.is_fully_defined():
            with in_context(outer.context):
                return constant_zeros(shape, dtype)
        with in_context(around):
            dims = get_op("Shape")(value)
        with in_context(outer.context):
            return filled_with_zeros(outer.remembered(dims), dtype)

    def zeros_like_output(self, op: Operation, index: int) -> Tensor | None:
        """Zeros for an output of `op` that got no gradient; None for the Switch of a loop variable.

        To be called inside the backward loop. Raises LookupError when `op` is in no loop of this pass.
        """
        state = self._by_context.get(while_context_of(op))
        if state is None:
            raise LookupError(op.name)
        if is_loop_switch(op):
            return None
        context, value = op._control_flow_context, op.outputs[index]
        shape, dtype = value.get_shape(), value.dtype.base_dtype
        dead_branch = is_switch(op)
        zeros: Tensor | None = None
        if dtype is dtypes.resource:
            zeros = zeros_like_variable(value)
        elif shape.is_fully_defined():
            zeros = constant(0, dtype=dtype, shape=shape.as_list())
        if zeros is not None:
            if dead_branch:
                return switch_ref_or_tensor(zeros, state._recalled_predicate(context))[1 - context.branch]
            return zeros
        if dead_branch:
            with in_context(context.outer_context):
                value = switch_ref_or_tensor(op._inputs[0], context.pred)[1 - context.branch]
                dims = get_op("Shape")(value)
            value.op._set_control_flow_context(context)
            dims.op._set_control_flow_context(context)
        else:
            with in_context(context):
                dims = get_op("Shape")(value)
        return filled_with_zeros(state.remembered(dims, dead_branch), dtype)
