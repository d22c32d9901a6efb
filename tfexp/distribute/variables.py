"""Variables that have a copy on each device: written together (`MirroredVariable`) or read together (`SyncOnReadVariable`).

A copy is a `ResourceVariable`. What a program asks the variable, the copy of the place answers: the replica's in a replica,
the one that is being updated in an update, else the first. Source: `tf.distribute`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.distribute import contexts
from tfexp.distribute.reductions import ReduceOp
from tfexp.distribute.values import PerReplica, after_all, described, here
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import group
from tfexp.graph.operation import Operation
from tfexp.graph.replica_modes import current_mode
from tfexp.graph.scopes import device
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import identity
from tfexp.ops.resource_variables import ResourceVariable
from tfexp.ops.saveable_object import SaveableObject, SaveSpec
from tfexp.ops.variable_base import VariableAggregation

# Updates whose arguments have no sum or mean.
_OF_ALL = ("count_up_to", "scatter_nd_update", "scatter_nd_add", "scatter_nd_sub")
_UPDATES = (
    *_OF_ALL,
    *("assign", "assign_add", "assign_sub", "scatter_update", "scatter_add", "scatter_sub", "scatter_mul", "scatter_div"),
    *("scatter_min", "scatter_max", "batch_scatter_update"),
)


class DistributedVariable(ResourceVariable):
    """What they share. `aggregation` says how the replicas' assignments (or, on reading, their values) become one."""

    def __init__(self, strategy: Any, copies: Sequence[Any], aggregation: VariableAggregation):
        self._strategy = strategy
        self._copies = tuple(copies)
        self._aggregation = aggregation
        for copy in copies:
            copy._distributed_container, copy._strategy = self, strategy

    def __getattr__(self, name: str) -> Any:
        """What a variable keeps of its nodes (its handle, shape, initial value) is the copy's."""
        if name.startswith("__") or name == "_copies":
            raise AttributeError(name)
        return getattr(self._get(), name)

    @property
    def _every_copy(self) -> Sequence[Any]:
        return self._copies

    @property
    def values(self) -> tuple[Any, ...]:
        """The copies, in the order of the devices."""
        return self._copies

    @property
    def devices(self) -> tuple[str, ...]:
        return tuple(copy.device for copy in self._copies)

    @property
    def _primary(self) -> Any:
        return self._copies[0]

    def _get(self) -> Any:
        """The copy of the place."""
        return self._copies[here() or 0] if len(self._copies) > 1 else self._primary

    @property
    def name(self) -> str:
        """The first copy's name, which is the variable's in checkpoints too."""
        return str(self._primary.name)

    @property
    def _unique_id(self) -> str:
        """Under which name optimizers keep its slots, from whichever copy they come."""
        return str(self._primary._shared_name)

    @property
    def handle(self) -> Tensor:
        """The copy's handle. ValueError across replicas, where there is more than one."""
        if here() is None and len(self._copies) > 1:
            raise ValueError(
                f"{type(self).__name__}.handle is not available outside the replica context or a "
                f"`tf.distribute.Strategy.update()` call: {self.name} has {len(self._copies)} copies"
            )
        return self._get()._handle  # type: ignore[no-any-return]

    @property
    def initializer(self) -> Operation:
        """The operation that gives all copies their initial value."""
        if here() is not None:
            return self._get().initializer  # type: ignore[no-any-return]
        return group(*(copy.initializer for copy in self._copies))  # type: ignore[no-any-return]

    def load(self, value: Any, session: Any = None) -> None:
        for copy in self._copies:
            copy.load(value, session)

    def is_initialized(self, name: str | None = None) -> Tensor:
        return self._get().is_initialized(name)  # type: ignore[no-any-return]

    def _as_graph_element(self) -> Tensor:
        return self._get()._as_graph_element()  # type: ignore[no-any-return]

    def value(self) -> Tensor:
        return self._get().value()  # type: ignore[no-any-return]

    def read_value(self) -> Tensor:
        return self._get().read_value()  # type: ignore[no-any-return]

    def __getitem__(self, key: Any) -> Tensor:
        """A slice of the value. It cannot be assigned to: one copy would."""
        return self.value()[key]

    def to_proto(self, export_scope: str | None = None) -> Any:
        return self._primary.to_proto(export_scope)

    def __repr__(self) -> str:
        return f"{type(self).__name__}:{described(map(repr, self._copies))}"

    # --- assignments ---------------------------------------------------------------------------------------------------

    def _updated(self, method: str, args: Any, kwargs: Any) -> Any:
        """`method` of the copies, as the place where it is called asks for it."""
        number = here()
        if number is None:
            with contexts.across(self._strategy):
                return self._update_across(method, args, kwargs)
        mode = current_mode()
        if mode is not None and mode.updating is not None:
            return getattr(self._get(), method)(*args, **kwargs)
        return self._update_in_replica(method, args, kwargs)

    def _update_across(self, method: str, args: Any, kwargs: Any) -> Any:
        def update(copy: Any, *given: Any, **settings: Any) -> Any:
            return getattr(copy, method)(*given, **settings)

        return self._strategy.extended.update(self, update, args=tuple(args), kwargs=dict(kwargs))

    def _update_in_replica(self, method: str, args: Any, kwargs: Any) -> Any:
        raise NotImplementedError

    def _saveable(self, key: str) -> SaveableObject:
        """How a Saver keeps it: once, under `key`."""
        return _OnceSaved(self, key)

    def _saved_value(self) -> Tensor:
        with device(self._primary.device):
            return identity(self._primary.value())  # type: ignore[no-any-return]

    def _restored(self, copy: Any, value: Tensor) -> Any:
        """The assignment to `copy` when `value` was in the checkpoint."""
        return copy.assign(value, read_value=False)


def _delegating(method: str) -> Callable[..., Any]:
    def call(self: DistributedVariable, *args: Any, **kwargs: Any) -> Any:
        return self._updated(method, args, kwargs)

    call.__name__ = method
    call.__doc__ = f"`{method}` of every copy, of what the replicas' arguments make together."
    return call


for _method in _UPDATES:
    setattr(DistributedVariable, _method, _delegating(_method))


class MirroredVariable(DistributedVariable):
    """Copies that are always equal: what one replica would assign is combined with the others', and all copies get it."""

    def _update_in_replica(self, method: str, args: Any, kwargs: Any) -> Any:
        if method in _OF_ALL:
            raise NotImplementedError(
                f"`{method}` of {self.name} in a replica: there is no way to make one of the replicas' arguments. Use "
                "`assign_add` or `scatter_add`, or call it across replicas (`merge_call`)."
            )
        aggregation = self._aggregation
        if aggregation is VariableAggregation.NONE:
            raise ValueError(
                f"You must specify an aggregation method to update a {type(self).__name__} in Replica Context: "
                f"`{method}` of {self.name} in a replica would make its copies differ. Pass for example "
                "`tf.Variable(..., aggregation=tf.VariableAggregation.MEAN)`; tf.VariableAggregation lists the methods."
            )

        def merged(strategy: Any, value: Any, *rest: Any, **settings: Any) -> Any:
            return self._update_across(method, (self._combined(strategy, value), *rest), settings)

        names = {**kwargs}
        value = args[0] if args else names.pop("value", names.pop("delta", names.pop("sparse_delta", None)))
        mode = current_mode()
        assert mode is not None
        return mode.replica.merge_call(merged, args=(value, *args[1:]), kwargs=names)

    def _combined(self, strategy: Any, value: Any) -> Any:
        if self._aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
            first = strategy.experimental_local_results(value)[0]
            return strategy.extended.broadcast_to(first, self)
        return strategy.extended.reduce_to(ReduceOp.of(self._aggregation), value, destinations=self)


class AggregatingVariable(MirroredVariable):
    """One variable that several replicas assign to."""

    @property
    def initializer(self) -> Operation:
        return self._primary.initializer  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return repr(self._primary)


class SyncOnReadVariable(DistributedVariable):
    """Copies that each replica changes on its own; across replicas it reads as what they make together.

    `aggregation`: SUM, MEAN, ONLY_FIRST_REPLICA; NONE reads as the first copy, too.
    """

    _fetched: Tensor | None = None

    def _update_in_replica(self, method: str, args: Any, kwargs: Any) -> Any:
        return getattr(self._get(), method)(*args, **kwargs)

    def _update_across(self, method: str, args: Any, kwargs: Any) -> Any:
        is_sum = self._aggregation is VariableAggregation.SUM
        if is_sum and method == "assign":
            kwargs = dict(kwargs)
            given, *rest = args or (kwargs.pop("value"),)
            whole = convert_to_tensor(given, dtype=self._get().dtype)
        elif is_sum:
            raise ValueError(
                f"{type(self).__name__} does not support `{method}` in cross-replica context when aggregation is set to "
                f"`tf.VariableAggregation.SUM`: each of the copies of {self.name} would change by the whole."
            )
        updates = []
        for copy in self._copies:
            with device(copy.device):
                own = (self._part_of(copy, whole), *rest) if is_sum else args
                updates.append(getattr(copy, method)(*own, **kwargs))
        return after_all(updates, grouped=True)

    def _part_of(self, copy: Any, whole: Any) -> Any:
        """What a copy holds of a sum: equal parts; of integers, the first has what is left over as well."""
        number = self._strategy.num_replicas_in_sync
        if not whole.dtype.is_integer:
            return whole / number
        each = whole // number
        is_first = copy is self._primary and self._strategy.extended._replicas_here.start == 0
        return whole - each * (number - 1) if is_first else each

    def _across(self) -> Tensor:
        """What the copies make together."""
        if self._aggregation in (VariableAggregation.ONLY_FIRST_REPLICA, VariableAggregation.NONE):
            return self._primary.value()  # type: ignore[no-any-return]
        with contexts.across(self._strategy):
            return self._strategy.extended._reduce(  # type: ignore[no-any-return]
                ReduceOp.of(self._aggregation), PerReplica(self._copies)
            )

    def value(self) -> Tensor:
        return self._across() if here() is None else super().value()

    def read_value(self) -> Tensor:
        return identity(self._across()) if here() is None else super().read_value()

    def _as_graph_element(self) -> Tensor:
        """What fetching it fetches: the same nodes each time."""
        if here() is not None:
            return super()._as_graph_element()
        if self._fetched is None:
            self._fetched = self._across()
        return self._fetched

    def _saved_value(self) -> Tensor:
        # Who builds a graph of his own saves alone: the others would not answer.
        return super()._saved_value() if self._strategy.extended.experimental_between_graph else self._across()

    def _restored(self, copy: Any, value: Tensor) -> Any:
        # A sum is given back in parts, so that it is the same after it.
        summed = self._aggregation is VariableAggregation.SUM
        return copy.assign(self._part_of(copy, value) if summed else value, read_value=False)


class _OnceSaved(SaveableObject):
    """A distributed variable in a checkpoint: one value, which all copies get back."""

    def __init__(self, variable: DistributedVariable, key: str):
        self._variable = variable
        super().__init__(variable, [SaveSpec(variable._saved_value, "", key, variable.dtype.base_dtype)], key)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Operation:
        (value,) = restored_tensors
        assigned = []
        for copy in self._variable.values:
            with device(copy.device):
                assigned.append(self._variable._restored(copy, identity(value)))
        return group(*assigned)  # type: ignore[no-any-return]
