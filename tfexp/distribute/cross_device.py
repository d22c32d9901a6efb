"""How values of several devices become one there and elsewhere: `tf.distribute.CrossDeviceOps` and its kinds. TF 1.15.

There is one algorithm, the sum on one device: in one process devices share the memory. The other kinds are names of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.distribute.devices import devices_of, whole
from tfexp.distribute.reductions import ReduceOp
from tfexp.distribute.values import DistributedValues, Mirrored
from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.gradient_sums import add_slices
from tfexp.graph.scopes import device
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import identity
from tfexp.ops.elementwise_binary import add_n


class CrossDeviceOps:
    """Base class: a kind says how it reduces and broadcasts."""

    def reduce(self, reduce_op: Any, per_replica_value: Any, destinations: Any) -> Any:
        """The sum or mean of the parts, on the devices of `destinations`; one part that is there already, itself.

        ValueError for what is neither a tensor nor has a part for each replica.
        """
        value = _parts(per_replica_value)
        if _is_there(value, destinations):
            return value.values[0]
        return self.reduce_implementation(ReduceOp.of(reduce_op), value, destinations)

    def batch_reduce(self, reduce_op: Any, value_destination_pairs: Sequence[tuple[Any, Any]]) -> list[Any]:
        """`reduce` of each pair (value, destinations). ValueError for what are no pairs."""
        if not all(isinstance(pair, tuple) for pair in value_destination_pairs):
            raise ValueError("Each element of `value_destination_pairs` should be a tuple.")
        pairs = [(_parts(value), where) for value, where in value_destination_pairs]
        if all(_is_there(*pair) for pair in pairs):
            return [value.values[0] for value, _ in pairs]
        return self.batch_reduce_implementation(ReduceOp.of(reduce_op), pairs)

    def broadcast(self, tensor: Any, destinations: Any) -> Any:
        """The tensor on all the devices of `destinations`."""
        return self.broadcast_implementation(tensor, destinations)

    def reduce_implementation(self, reduce_op: ReduceOp, per_replica_value: Any, destinations: Any) -> Any:
        raise NotImplementedError("reduce_implementation must be implemented by the kinds of CrossDeviceOps")

    def batch_reduce_implementation(
        self, reduce_op: ReduceOp, value_destination_pairs: Sequence[tuple[Any, Any]]
    ) -> list[Any]:
        raise NotImplementedError("batch_reduce_implementation must be implemented by the kinds of CrossDeviceOps")

    def broadcast_implementation(self, tensor: Any, destinations: Any) -> Any:
        """A copy on each device."""
        copies = []
        for where in devices_of(destinations):
            with device(whole(where)):
                copies.append(identity(tensor))
        return copies[0] if len(copies) == 1 else Mirrored(copies)


class ReductionToOneDevice(CrossDeviceOps):
    """The parts are brought to one device (the first of the destinations, or `reduce_to_device`) and added there.

    `accumulation_fn(values)` adds them; default `tf.add_n`.
    """

    def __init__(self, reduce_to_device: str | None = None, accumulation_fn: Any = None):
        self._reduce_to_device = reduce_to_device
        self._accumulation_fn = add_n if accumulation_fn is None else accumulation_fn

    def reduce_implementation(self, reduce_op: ReduceOp, per_replica_value: Any, destinations: Any) -> Any:
        values = per_replica_value.values
        with device(self._reduce_to_device or devices_of(destinations)[0]):
            reduced = summed(values, self._accumulation_fn)
            if reduce_op is ReduceOp.MEAN:
                reduced = divided(reduced, len(values))
        return self.broadcast(reduced, destinations)

    def batch_reduce_implementation(
        self, reduce_op: ReduceOp, value_destination_pairs: Sequence[tuple[Any, Any]]
    ) -> list[Any]:
        return [self.reduce_implementation(reduce_op, value, where) for value, where in value_destination_pairs]


def _parts(value: Any) -> DistributedValues:
    """A tensor is the value of the one replica there is. ValueError for what is none and has no parts."""
    if isinstance(value, (Tensor, IndexedSlices)):
        return DistributedValues([value])
    if not isinstance(value, DistributedValues):
        raise ValueError(f"Expected a tensor or a value with a part for each replica, given: {value!r}")
    return value


def _is_there(value: DistributedValues, destinations: Any) -> bool:
    """Whether it is one tensor, on the one device where it is to be."""
    first, *others = value.values
    if others or not isinstance(first, Tensor):
        return False
    wanted = devices_of(destinations)
    return len(wanted) == 1 and whole(first.device) == whole(wanted[0])


def summed(values: Sequence[Any], accumulate: Any) -> Any:
    """Tensors by `accumulate`; IndexedSlices one behind the other, or dense where there are tensors among them."""
    if any(isinstance(value, IndexedSlices) for value in values):
        return add_slices(list(values))
    return accumulate([convert_to_tensor(value) for value in values])


def divided(value: Any, by: int) -> Any:
    """A tensor, or the rows of IndexedSlices, divided by a number."""
    if isinstance(value, IndexedSlices):
        return IndexedSlices(value.values / by, value.indices, value.dense_shape)
    return value / by


class AllReduceCrossDeviceOps(ReductionToOneDevice):
    """The sum on the first device. What is said of algorithms and of packs of tensors changes nothing."""

    def __init__(
        self,
        all_reduce_alg: str = "nccl",
        num_packs: int = 1,
        agg_small_grads_max_bytes: int = 0,
        agg_small_grads_max_group: int = 10,
    ):
        super().__init__()


class MultiWorkerAllReduce(AllReduceCrossDeviceOps):
    """The sum on the first device, whichever task it is of. What is said of workers and algorithms changes nothing."""

    def __init__(
        self,
        worker_devices: Sequence[str],
        num_gpus_per_worker: int,
        all_reduce_spec: Any = ("pscpu/pscpu", 2, -1),
        num_packs: int = 0,
        agg_small_grads_max_bytes: int = 0,
        agg_small_grads_max_group: int = 10,
    ):
        super().__init__()


class NcclAllReduce(AllReduceCrossDeviceOps):
    """The sum on the first device: NCCL is for several GPUs of one machine. `num_packs` changes nothing."""

    def __init__(self, num_packs: int = 1):
        _check_not_negative(num_packs)
        super().__init__()


class HierarchicalCopyAllReduce(AllReduceCrossDeviceOps):
    """The sum on the first device: one process has no hierarchy of links. `num_packs` changes nothing."""

    def __init__(self, num_packs: int = 1):
        _check_not_negative(num_packs)
        super().__init__()


def _check_not_negative(num_packs: int) -> None:
    if num_packs < 0:
        raise ValueError(
            f"NCCL all-reduce and hierarchical copies take packs of tensors: num_packs >= 0. Given: {num_packs}"
        )


def reduce_undistributed(reduce_op: ReduceOp, value: Any, destinations: Any, replicas: int, ops: CrossDeviceOps) -> Any:
    """The reduction of what is the same in all replicas. ValueError for a sum, which might be meant either way."""
    if isinstance(value, Mirrored) and reduce_op is ReduceOp.MEAN:
        return value
    if isinstance(value, (int, float)) and value == 0:
        return 0
    if reduce_op is ReduceOp.SUM and replicas > 1:
        raise ValueError(
            f"A non-DistributedValues value {value!r} cannot be reduced with the given reduce op {reduce_op}: it is the "
            f"same in all {replicas} replicas, so that its sum would be {replicas} times as much"
        )
    return ops.broadcast(value, destinations) if isinstance(value, Tensor) else value
