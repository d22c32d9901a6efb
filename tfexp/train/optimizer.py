"""`Optimizer`: compute gradients, then apply them to variables through slots and one update op each. Source: TF 1.15.

A subclass says which slots it keeps (`_create_slots`), makes tensors of its hyperparameters (`_prepare`), and updates a
variable from a dense (`_apply_dense`) or a sparse gradient (`_apply_sparse`, whose indices are unique). What it does to
variables behind a handle may differ: `_resource_apply_dense`, `_resource_apply_sparse`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tfexp.core import dtypes, nest
from tfexp.core.shape import TensorShape
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import IndexedSlices, convert_to_tensor, convert_to_tensor_or_indexed_slices
from tfexp.graph.dependencies import group
from tfexp.graph.dependencies import tuple as tuple_
from tfexp.graph.gradients import gradients
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import (
    colocate_with,
    control_dependencies,
    executing_eagerly,
    get_default_graph,
    init_scope,
    name_scope,
)
from tfexp.graph.tape import GradientTape
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, state
from tfexp.ops.array_unique import unique
from tfexp.ops.resource_state import assign_add_variable_op
from tfexp.ops.resource_variables import is_resource_variable
from tfexp.ops.segment import unsorted_segment_sum
from tfexp.ops.variable_base import graph_of, node_name
from tfexp.ops.variable_lists import trainable_variables
from tfexp.ops.variables import Variable
from tfexp.train.slot_creator import create_slot, create_slot_with_initializer, create_zeros_slot

GradientsAndVariables = list[tuple[Any, Any]]


def call_if_callable(value: Any) -> Any:
    """Hyperparameters may be given as functions that are called when the update is built."""
    return value() if callable(value) else value


def once_each(values: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
    """(values, indices) with the sum of the rows for each index that there is."""
    found, positions = unique(indices)
    return unsorted_segment_sum(values, positions, array.shape(found)[0]), found


def _summed_rows(values: Tensor, var: Any, indices: Tensor) -> tuple[Tensor, Any, Tensor]:
    """The same with the variable, as updates take them."""
    summed, found = once_each(values, indices)
    return summed, var, found


def _on_slices(update: Callable[..., Any]) -> Callable[..., Any]:
    """An update by slices, of what these consist of."""

    def by_parts(self: Any, grad: Tensor, handle: Any, indices: Tensor) -> Any:
        return update(self, IndexedSlices(grad, indices), handle)

    return by_parts


# The methods that update variables; for those behind a handle what is wrapped so.
_UPDATES: dict[str, Callable[[Any], Any]] = {
    "_apply_dense": lambda update: update,
    "_apply_sparse": _on_slices,
    "_apply_sparse_duplicate_indices": _on_slices,
}


class Optimizer:
    """Base class. `name` scopes the update ops and names the slots."""

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """What a class does to variables it does to those behind a handle, too, unless it says something else for these."""
        super().__init_subclass__(**kwargs)
        own = vars(cls)
        for method, wrap in _UPDATES.items():
            if method in own and f"_resource{method}" not in own:
                setattr(cls, f"_resource{method}", wrap(own[method]))

    def __init__(self, use_locking: bool, name: str):
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        self._slots: dict[str, dict[Any, Any]] = {}
        self._non_slots: dict[tuple[str, Any], Any] = {}

    def get_name(self) -> str:
        return self._name

    # --- the two halves of minimize ------------------------------------------------------------------------------

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """The op that takes one step against the gradient of `loss`, and then increments `global_step`.

        ValueError when no variable gets a gradient.
        """
        grads_and_vars = self.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        if not any(g is not None for g, _ in grads_and_vars):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not support gradients, between "
                f"variables {[str(v) for _, v in grads_and_vars]} and loss {loss}."
            )
        return self.apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> GradientsAndVariables:
        """[(gradient or None, variable), …] of `loss` for `var_list`.

        Without one, for the trainable variables; for those that it reads where `loss` is a function, also in a graph.
        """
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH. "
                f"Not {gate_gradients}"
            )
        if executing_eagerly() or callable(loss):
            return self._gradients_at_once(loss, var_list, grad_loss)
        self._assert_valid_dtypes([loss] if grad_loss is None else [loss, grad_loss])
        variables = trainable_variables() if var_list is None else nest.flatten(var_list)
        if not variables:
            raise ValueError("No variables to optimize.")
        grads: Sequence[Any] = gradients(
            loss,
            [_target(v) for v in variables],
            grad_ys=grad_loss,
            gate_gradients=gate_gradients == self.GATE_OP,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gate_gradients == self.GATE_GRAPH:
            grads = tuple_(grads)
        pairs = list(zip(grads, variables, strict=True))
        self._assert_valid_dtypes([v for g, v in pairs if g is not None and v.dtype is not dtypes.resource])
        return pairs

    def _gradients_at_once(self, loss: Any, var_list: Any, grad_loss: Any) -> GradientsAndVariables:
        """Where `loss` is a function, as it has to be in eager execution: the variables that it reads, if none are given."""
        if not callable(loss):
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a function when eager execution is enabled."
            )
        with GradientTape() as tape:
            if var_list is not None:
                tape.watch(var_list)
            value = loss()
        variables = list(tape.watched_variables()) if var_list is None else nest.flatten(var_list)
        pairs = list(zip(tape.gradient(value, variables, grad_loss), variables, strict=True))
        self._assert_valid_dtypes([v for g, v in pairs if g is not None])
        return pairs

    def apply_gradients(self, grads_and_vars: Iterable[Any], global_step: Any = None, name: str | None = None) -> Any:
        """The op that applies [(gradient or None, variable), …] and increments `global_step`; None when that was at once."""
        pairs = [(_checked_gradient(g), v) for g, v in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided.")
        variables = [v for g, v in pairs if g is not None]
        if not variables:
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in pairs]}.")
        with init_scope():
            self._create_slots(variables)
        with name_scope(name, self._name) as scope:
            self._prepare()
            updates = []
            for grad, variable in pairs:
                if grad is not None:
                    with _updating(variable):
                        updates.append(self._update(grad, variable))
            if global_step is None:
                train_op = self._finish(updates, scope)
            else:
                with control_dependencies([self._finish(updates, "update")]), colocate_with(global_step):
                    train_op = _incremented(global_step, scope)
            return _registered(train_op)

    def _update(self, grad: Any, variable: Any) -> Any:
        if isinstance(variable, Tensor):
            raise NotImplementedError("Trying to update a Tensor ", variable)
        constraint = getattr(variable, "constraint", None)
        behind_handle = is_resource_variable(variable)
        if isinstance(grad, IndexedSlices):
            if constraint is not None:
                raise RuntimeError("Cannot use a constraint function on a sparse variable.")
            if behind_handle:
                return self._resource_apply_sparse_duplicate_indices(grad.values, variable, grad.indices)
            return self._apply_sparse_duplicate_indices(grad, variable)
        update = self._resource_apply_dense(grad, variable) if behind_handle else self._apply_dense(grad, variable)
        if constraint is None:
            return update
        with control_dependencies([update]):
            return variable.assign(constraint(variable))

    # --- slots ---------------------------------------------------------------------------------------------------

    def get_slot(self, var: Any, name: str) -> Any:
        """The slot variable `name` of `var`, or None."""
        return self._slots.get(name, {}).get(_key(var))

    def get_slot_names(self) -> list[str]:
        """The names of all slots, sorted."""
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """The slots and other variables that the optimizer made in the current graph, by name."""
        current = get_default_graph().outermost
        made = [v for (_, graph), v in self._non_slots.items() if graph is current]
        for slots in self._slots.values():
            made.extend(v for v in slots.values() if graph_of(v) is current)
        return sorted(made, key=lambda v: v.name)

    def _slot_dict(self, slot_name: str) -> dict[Any, Any]:
        return self._slots.setdefault(slot_name, {})

    def _get_or_make_slot(self, var: Any, val: Tensor, slot_name: str, op_name: str) -> Any:
        slots = self._slot_dict(slot_name)
        if _key(var) not in slots:
            slots[_key(var)] = create_slot(var, val, op_name)
        return slots[_key(var)]

    def _get_or_make_slot_with_initializer(
        self, var: Any, initializer: Callable[..., Any], shape: TensorShape, dtype: Any, slot_name: str, op_name: str
    ) -> Any:
        slots = self._slot_dict(slot_name)
        if _key(var) not in slots:
            slots[_key(var)] = create_slot_with_initializer(var, initializer, shape, dtype, op_name)
        return slots[_key(var)]

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Any:
        slots = self._slot_dict(slot_name)
        if _key(var) not in slots:
            slots[_key(var)] = create_zeros_slot(var, op_name)
        return slots[_key(var)]

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Any) -> Any:
        """A variable of the optimizer's own, one per graph, on the device of the variable `colocate_with`."""
        graph = graph_of(colocate_with)
        key = (name, graph)
        if key not in self._non_slots:
            with graph.as_default(), graph.colocate_with(colocate_with):
                self._non_slots[key] = Variable(
                    initial_value, name=name, trainable=False, use_resource=is_resource_variable(colocate_with)
                )
        return self._non_slots[key]

    def _get_non_slot_variable(self, name: str, graph: Any = None) -> Any:
        if graph is None and executing_eagerly():
            graph = get_default_graph()
        return self._non_slots.get((name, graph if graph is None else graph.outermost))

    # --- what a subclass says ------------------------------------------------------------------------------------

    def _create_slots(self, var_list: list[Any]) -> None:
        """Create the slots for these variables; none by default."""

    def _prepare(self) -> None:
        """Make tensors of the hyperparameters, inside the optimizer's name scope."""

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        """The op that updates `var` from a dense gradient."""
        raise NotImplementedError

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        """As `_apply_sparse`, for indices that may repeat: their rows are summed first."""
        values, _, indices = _summed_rows(grad.values, var, grad.indices)
        return self._apply_sparse(IndexedSlices(values, indices, grad.dense_shape), var)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        """The op that updates the rows `grad.indices` (unique) of `var`."""
        raise NotImplementedError

    def _resource_apply_dense(self, grad: Tensor, handle: Any) -> Any:
        """As `_apply_dense`, for a variable behind a handle."""
        raise NotImplementedError

    def _resource_apply_sparse_duplicate_indices(self, grad: Tensor, handle: Any, indices: Tensor) -> Any:
        """As `_resource_apply_sparse`, for indices that may repeat: their rows are summed first."""
        return self._resource_apply_sparse(*_summed_rows(grad, handle, indices))

    def _resource_apply_sparse(self, grad: Tensor, handle: Any, indices: Tensor) -> Any:
        """As `_apply_sparse`, for a variable behind a handle."""
        raise NotImplementedError

    _call_if_callable = staticmethod(call_if_callable)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        """One op for all the updates."""
        return group(*update_ops, name=name_scope)

    def _valid_dtypes(self) -> set[dtypes.DType]:
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}

    def _assert_valid_dtypes(self, tensors: Iterable[Any]) -> None:
        valid = self._valid_dtypes()
        for tensor in tensors:
            dtype = tensor.dtype.base_dtype
            if dtype not in valid:
                raise ValueError(f"Invalid type {dtype!r} for {tensor.name}, expected: {sorted(valid, key=repr)}.")


@contextlib.contextmanager
def _updating(variable: Any) -> Iterator[None]:
    """Nodes below the variable's name and where it is; in eager execution there are neither."""
    if executing_eagerly():
        yield
        return
    with name_scope("update_" + node_name(variable)), colocate_with(variable):
        yield


def _incremented(global_step: Any, name: str) -> Any:
    if not is_resource_variable(global_step):
        return state.assign_add(global_step, 1, name=name)
    one = convert_to_tensor(1, dtype=global_step.dtype)
    return assign_add_variable_op(global_step.handle, one, name=name)


def _registered(train_op: Any) -> Any:
    """The op, in the collection of those that train; None in eager execution, where it has run."""
    if executing_eagerly():
        return None
    train_op = train_op.op if isinstance(train_op, Tensor) else train_op
    # A variable after its assignment is known by that.
    noted = train_op if isinstance(train_op, Operation) else train_op.op
    collection = get_default_graph().get_collection_ref(GraphKeys.TRAIN_OP)
    if noted not in collection:
        collection.append(noted)
    return train_op


def _key(var: Any) -> tuple[Any, str]:
    # Names of eager execution's variables need not differ.
    return (graph_of(var), var._unique_id) if hasattr(var, "_unique_id") else (var.op.graph, var.op.name)


def _target(var: Any) -> Any:
    """What gradients are taken for: a variable's reference, so that every read of it counts."""
    if not hasattr(var, "op"):
        raise AttributeError(f"{var!r} is not to be optimized: only variables and tensors are, and have an attribute 'op'")
    return var._ref() if isinstance(var, Variable) else var


def _checked_gradient(grad: Any) -> Any:
    if grad is None:
        return None
    try:
        return convert_to_tensor_or_indexed_slices(grad)
    except TypeError:
        raise TypeError(f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {grad}") from None
