"""`tensorflow.python.training.saving`: `saveable_object_util` and `functional_saver`. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tensorboard.compat.proto import saver_pb2

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import device
from tfexp.ops import save
from tfexp.ops.partitioned_variable import PartitionedVariable
from tfexp.ops.saveable_object import SaveableObject, SaveSpec
from tfexp.train.save_graph import SaveGraphBuilder, saveable_of, saveables_from


class VariableSaveable(SaveableObject):
    """A variable that is saved whole, or a part of a larger one."""

    def __init__(self, var: Any, slice_spec: str, name: str):
        self._saveable = saveable_of(name, var, slice_spec)
        super().__init__(var, [SaveSpec(self._saveable.tensor, slice_spec, name, self._saveable.dtype)], name)

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        return self._saveable.restore(restored_tensors[0], reshape=restored_shapes is not None)


ReferenceVariableSaveable = ResourceVariableSaveable = VariableSaveable


def saveable_objects_for_op(op: Any, name: str) -> Iterator[SaveableObject]:
    """What saves a variable, or each part of one, under that key. TypeError for another key."""
    if not isinstance(name, str):
        raise TypeError(
            f"names_to_saveables must be a dict mapping string names to trackable operations. Name is not a string: {name}"
        )
    if isinstance(op, SaveableObject):
        yield op
        return
    for part in op if isinstance(op, (list, tuple, PartitionedVariable)) else [op]:
        info = part._save_slice_info
        yield VariableSaveable(part, "" if info is None else info.spec, name)


class _SingleDeviceSaver:
    """Saves and restores what it is given by nodes of their own; in eager execution, at once."""

    def __init__(self, saveable_objects: Any):
        self._saveables = list(saveable_objects)
        for saveable in self._saveables:
            if not isinstance(saveable, SaveableObject):
                raise ValueError(f"Expected a list of SaveableObjects, got {saveable}.")
        self._specs = [spec for saveable in self._saveables for spec in saveable.specs]

    def save(self, file_prefix: Any) -> Operation:
        """The operation that writes a checkpoint of that name."""
        values = [spec.tensor() if callable(spec.tensor) else spec.tensor for spec in self._specs]
        with device("cpu:0"):
            operation: Operation = save.save_v2(file_prefix, *self._keys(), values)
        return operation

    def restore(self, file_prefix: Any) -> dict[str, Any]:
        """The operations that put back what a checkpoint has, by keys."""
        with device("cpu:0"):
            read = save.restore_v2(file_prefix, *self._keys(), dtypes=[spec.dtype for spec in self._specs])
        values = iter(read)
        return {one.name: one.restore([next(values) for _ in one.specs], None) for one in self._saveables}

    def _keys(self) -> tuple[Any, Any]:
        names = [spec.name for spec in self._specs]
        return convert_to_tensor(names, name="tensor_names"), convert_to_tensor([spec.slice_spec for spec in self._specs])


class MultiDeviceSaver(_SingleDeviceSaver):
    """The same of values on several devices, which are all of one process."""

    def to_proto(self) -> saver_pb2.SaverDef:
        """The SaverDef of nodes that are added to the default graph."""
        return SaveGraphBuilder(reshape=False, sharded=True, filename=None).build(saveables_from(self._saveables), None)


def sharded_filename(filename_tensor: Any, shard: Any, num_shards: Any) -> Any:
    """The name of one of a checkpoint's files."""
    return save.sharded_filename(filename_tensor, shard, num_shards)
