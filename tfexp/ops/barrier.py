"""Barriers: elements that become ready when all their components have come. The barriers are `ops.barrier_resource`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.dtypes import DType, as_dtype
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, as_shape
from tfexp.graph.operation import Operation
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops import barrier_resource
from tfexp.ops.array import Array
from tfexp.ops.handle_ops import shared_or_own
from tfexp.ops.shape_rules import with_rank, with_rank_at_least

barrier = define_op(
    "Barrier() -> (handle: ref string) {component_types: list(type) >= 1; shapes: list(shape) >= 0 = []; "
    "capacity: int = -1; container: string = ''; shared_name: string = ''} #stateful"
)
insert_many = define_op(
    "BarrierInsertMany(handle: ref string, keys: string, values: T) -> () {T: type; component_index: int}", writes_refs=False
)
take_many = define_op(
    "BarrierTakeMany(handle: ref string, num_elements: int32) -> (indices: int64, keys: string, values: component_types) "
    "{component_types: list(type) >= 1; allow_small_batch: bool = false; wait_for_incomplete: bool = false; "
    "timeout_ms: int = -1}",
    writes_refs=False,
)
close = define_op("BarrierClose(handle: ref string) -> () {cancel_pending_enqueues: bool = false}", writes_refs=False)
ready_size = define_op("BarrierReadySize(handle: ref string) -> (size: int32)", writes_refs=False)
incomplete_size = define_op("BarrierIncompleteSize(handle: ref string) -> (size: int32)", writes_refs=False)


@barrier.shape
def _() -> TensorShape:
    return TensorShape([2])


@barrier.kernel("CPU", handle=True)
def _(
    ctx: Any, *, component_types: list[DType], shapes: list[TensorShape], container: str, shared_name: str
) -> barrier_resource.Barrier:
    def make(name: str) -> barrier_resource.Barrier:
        return barrier_resource.Barrier(name, component_types, shapes)

    found: barrier_resource.Barrier = shared_or_own(ctx, "barrier", container, shared_name, make)
    wanted = make(found.name)
    compared = (("types", found.types, wanted.types), ("shapes", found.shapes, wanted.shapes))
    for what, ours, theirs in compared:
        if ours != theirs:
            text = f"Shared barrier '{found.name}' has component {what} {ours} but requested component {what} were {theirs}"
            raise InvalidArgumentError(None, None, text)
    return found


@insert_many.shape
def _(handle: InputShape, keys: InputShape, values: InputShape) -> None:
    merged(with_rank(keys, 1), with_rank_at_least(values, 1)[:1])


@insert_many.kernel("CPU")
def _(ctx: Any, handle: barrier_resource.Barrier, keys: Array, values: Array, *, T: DType, component_index: int) -> None:
    types = handle.types
    if 0 <= component_index < len(types) and types[component_index].base_dtype is not T.base_dtype:
        raise InvalidArgumentError(
            None,
            None,
            f"Signature mismatch, have values of {T.name}, expected {types[component_index].name} for component "
            f"{component_index} of barrier {handle.name}",
        )
    handle.insert(component_index, np.asarray(keys), np.asarray(values))


@take_many.shape
def _(handle: InputShape, num_elements: InputShape, *, component_types: list[DType]) -> list[TensorShape]:
    with_rank(num_elements, 0)
    return [TensorShape([None])] * 2 + [TensorShape(None)] * len(component_types)


@take_many.kernel("CPU", waits=True)
def _(
    ctx: Any,
    handle: barrier_resource.Barrier,
    num_elements: Array,
    *,
    allow_small_batch: bool,
    wait_for_incomplete: bool,
) -> Any:
    return handle.take(int(num_elements), allow_small_batch, wait_for_incomplete)


@close.shape
def _(handle: InputShape) -> None:
    return None


@close.kernel("CPU")
def _(ctx: Any, handle: barrier_resource.Barrier, *, cancel_pending_enqueues: bool) -> None:
    handle.close(cancel_pending_enqueues)


for _op in (ready_size, incomplete_size):

    @_op.shape
    def _(handle: InputShape) -> TensorShape:
        return TensorShape([])


@ready_size.kernel("CPU")
def _(ctx: Any, handle: barrier_resource.Barrier) -> Any:
    return np.int32(handle.ready)


@incomplete_size.kernel("CPU")
def _(ctx: Any, handle: barrier_resource.Barrier) -> Any:
    return np.int32(handle.incomplete)


class Barrier:
    """A store of elements by key. Each has several components, inserted apart; once it has all of them it can be taken.

    Shapes, where they are given, are fully known. Source: `data_flow_ops.Barrier`, TF 1.15.
    """

    def __init__(self, types: Any, shapes: Any = None, shared_name: str | None = None, name: str = "barrier"):
        kinds = list(types) if isinstance(types, (list, tuple)) else [types]
        self._types = [as_dtype(kind) for kind in kinds]
        self._shapes = [TensorShape(None)] * len(self._types)
        if shapes is not None:
            self._shapes = _checked(shapes, len(self._types))
        self._barrier_ref: Tensor = barrier(
            component_types=self._types, shapes=self._shapes, shared_name=shared_name or "", name=name
        )
        self._name = self._barrier_ref.op.name.rpartition("/")[2]

    @property
    def barrier_ref(self) -> Tensor:
        """The barrier's handle."""
        return self._barrier_ref

    @property
    def name(self) -> str:
        """That of its node."""
        return self._barrier_ref.op.name

    def insert_many(self, component_index: int, keys: Any, values: Any, name: str | None = None) -> Operation:
        """A node that gives one component to each of the keys."""
        name = name or f"{self._name}_BarrierInsertMany"
        node: Operation = insert_many(self._barrier_ref, keys, values, component_index=component_index, name=name)
        return node

    def take_many(
        self, num_elements: Any, allow_small_batch: bool = False, timeout: int | None = None, name: str | None = None
    ) -> tuple[Tensor, Tensor, Sequence[Tensor]]:
        """(indices, keys, [values of each component]) of so many ready elements, those whose keys came first.

        The step waits for them. Of a closed barrier, `allow_small_batch` takes what there is. ValueError for a `timeout`:
        steps have one (`RunOptions.timeout_in_ms`), nodes do not.
        """
        if timeout is not None:
            raise ValueError(f"take_many has no timeout of its own, got {timeout}: give the step one, in its RunOptions")
        results: Any = take_many(
            self._barrier_ref,
            num_elements,
            component_types=self._types,
            allow_small_batch=allow_small_batch,
            name=name or f"{self._name}_BarrierTakeMany",
        )
        known = None if allow_small_batch else static_value(results.indices.op.inputs[1])
        count = None if known is None else int(known)
        for tensor, shape in zip(results.values, self._shapes, strict=True):
            tensor.set_shape(TensorShape([count]).concatenate(shape))
        for tensor in (results.indices, results.keys):
            tensor.set_shape([count])
        taken: tuple[Tensor, Tensor, Sequence[Tensor]] = results
        return taken

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """A node after which no new keys come in; nor components of those there are, if these are cancelled."""
        name = name or f"{self._name}_BarrierClose"
        node: Operation = close(self._barrier_ref, cancel_pending_enqueues=cancel_pending_enqueues, name=name)
        return node

    def ready_size(self, name: str | None = None) -> Tensor:
        """How many elements have all their components."""
        size: Tensor = ready_size(self._barrier_ref, name=name or f"{self._name}_BarrierReadySize")
        return size

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """How many elements lack a component."""
        size: Tensor = incomplete_size(self._barrier_ref, name=name or f"{self._name}_BarrierIncompleteSize")
        return size


def _checked(shapes: Any, count: int) -> list[TensorShape]:
    """A shape for each component; that of a barrier of one may stand alone."""
    if isinstance(shapes, TensorShape) or all(size is None or isinstance(size, int) for size in shapes):
        shapes = [shapes]
    known = [as_shape(shape) for shape in shapes]
    if len(known) != count:
        raise ValueError(f"There are {count} component types, but {len(known)} shapes: there must be one for each")
    if not all(shape.is_fully_defined() for shape in known):
        raise ValueError(f"All shapes must be fully defined: {known}")
    for i, shape in enumerate(known):
        if shape.num_elements() == 0:
            raise ValueError(f"Empty tensors are not supported, but received shape '{shape}' at index {i}")
    return known
