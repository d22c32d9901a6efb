"""The nodes of a Saver: which variables under which keys, and the ops that write and read them. Source: TF 1.15."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tensorboard.compat.proto import saver_pb2

from tfexp.core import dtypes
from tfexp.core.device import DeviceName
from tfexp.core.dtypes import DType
from tfexp.core.op import get_op
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.dependencies import group, with_dependencies
from tfexp.graph.handle_values import variable_shape
from tfexp.graph.handles import handle_shape
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, device, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_identity, save, state
from tfexp.ops.partitioned_variable import PartitionedVariable
from tfexp.ops.resource_state import assign_variable_op
from tfexp.ops.resource_variables import ResourceVariable
from tfexp.ops.saveable_object import SaveableObject
from tfexp.ops.variable_base import Variable, node_name


@dataclass(frozen=True)
class Saveable:
    """One key of a checkpoint: the tensor to save, its place in a larger tensor (`slice_spec`), where to restore it."""

    key: str
    tensor: Tensor | Callable[[], Tensor]  # what is written, or what makes it
    dtype: DType
    slice_spec: str
    target: Any  # the reference or handle that is assigned to, where no `owner` does it
    device: str
    owner: SaveableObject | None = None

    def written(self) -> Tensor:
        """The tensor that is written; made now, where a function makes it."""
        return self.tensor() if callable(self.tensor) else self.tensor

    def restore(self, value: Tensor, reshape: bool) -> Any:
        if self.target.dtype is dtypes.resource:
            return self._restore_resource(value, reshape)
        if reshape:
            shape = self.target.get_shape()
            value = array.reshape(value, shape if shape.is_fully_defined() else array.shape(self.target))
        # The target's own shape is checked, unless that was made to fit; a partly known one is what the checkpoint says.
        validate = not reshape and self.target.get_shape().is_fully_defined()
        return state.assign(self.target, value, validate_shape=validate)

    def _restore_resource(self, value: Tensor, reshape: bool) -> Any:
        if reshape:
            shape = handle_shape(self.target)
            value = array.reshape(value, shape if shape.is_fully_defined() else variable_shape(self.target))
        with device(self.target.device):
            return assign_variable_op(self.target, array_identity.identity(value))


def saveables_from(var_list: Any) -> list[Saveable]:
    """The saveables of a list of variables or a dict from key to variable, by key. TypeError, ValueError as TF's."""
    by_key = values_by_key(var_list)
    saveables: list[Saveable] = []
    seen: set[Operation | SaveableObject] = set()
    for key in sorted(by_key):
        found = saveables_of(key, by_key[key])
        restored = {s.target._op if s.owner is None else s.owner for s in found}
        if seen & restored:
            raise ValueError(f"The same saveable will be restored with two names: {key}")
        seen |= restored
        saveables.extend(found)
    return saveables


def values_by_key(var_list: Any) -> dict[str, Any]:
    """A list of variables or a dict from key to variable as the latter; parts of one variable are a list."""
    by_key: dict[str, Any] = {}
    if isinstance(var_list, dict):
        for key, value in var_list.items():
            by_key[key] = value
    elif isinstance(var_list, (list, tuple, set)):
        for value in var_list:
            _collect(by_key, value)
    else:
        raise TypeError(f"Variables to save should be passed in a dict or a list. Got {var_list}")
    return by_key


def _collect(by_key: dict[str, Any], value: Any) -> None:
    if isinstance(value, PartitionedVariable):
        key: str = value.name
    elif isinstance(value, Variable) and value._save_slice_info is not None:
        # Parts of one variable share its key.
        name = value._save_slice_info.full_name
        parts = by_key.setdefault(name, [])
        if not isinstance(parts, list):
            raise ValueError(f"At least two variables have the same name: {name}")
        parts.append(value)
        return
    elif isinstance(value, Variable) or _is_reference(value):
        key = node_name(value)
    elif _is_read(value):
        key = value.op.inputs[0].op.name
    elif isinstance(value, SaveableObject):
        key = value.name
    else:
        raise TypeError(f"Variable to save is not a Variable: {value}")
    if key in by_key:
        raise ValueError(f"At least two variables have the same name: {key}")
    by_key[key] = value


def saveables_of(key: str, value: Any) -> list[Saveable]:
    if not isinstance(key, str):
        raise TypeError(
            f"names_to_saveables must be a dict mapping string names to trackable operations. Name is not a string: {key}"
        )
    if isinstance(value, (list, tuple, PartitionedVariable)):
        parts = list(value)
        for part in parts:
            if getattr(part, "_save_slice_info", None) is None:
                raise ValueError(f"Slices must all be slices: {part}")
        # The slices' own name is the key in the checkpoint, unless a dict says otherwise.
        return [saveable_of(key, part, part._save_slice_info.spec) for part in parts]
    if isinstance(value, SaveableObject):
        return [
            Saveable(spec.name, spec.tensor, spec.dtype, spec.slice_spec, value.op, value.device, value)
            for spec in value.specs
        ]
    if isinstance(value, Variable):
        info = value._save_slice_info
        return [saveable_of(key, value, "" if info is None else info.spec)]
    if _is_reference(value):
        return [Saveable(key, value, value.dtype.base_dtype, "", value, value.device)]
    if _is_read(value):
        return [Saveable(key, value, value.dtype.base_dtype, "", value.op.inputs[0], value.device)]
    raise TypeError(
        "names_to_saveables must be a dict mapping string names to Tensors/Variables. Not a variable: "
        f"{convert_to_tensor(value)}"
    )


def _is_reference(value: Any) -> bool:
    """Whether it is the reference of a variable's node, as in a graph that was imported without its variables."""
    return isinstance(value, Tensor) and value._op.type in ("Variable", "VariableV2")


def _is_read(value: Any) -> bool:
    """Whether it is what a read of a variable's handle gives, as in such a graph."""
    return isinstance(value, Tensor) and value._op.type == "ReadVariableOp"


def saveable_of(key: str, variable: Variable, spec: str) -> Saveable:
    reference, dtype = variable._ref(), variable.dtype.base_dtype
    if isinstance(variable, ResourceVariable):
        tensor = functools.partial(_read_on_cpu, variable) if spec else variable._as_graph_element()
        return Saveable(key, tensor, dtype, spec, reference, variable.device)
    # A slice is read before it is written, a whole variable is written as it is.
    return Saveable(key, variable.value() if spec else reference, dtype, spec, reference, variable.device)


def _read_on_cpu(variable: ResourceVariable) -> Tensor:
    """What the variable holds when it is saved: a slice is read anew, as of references."""
    with device(variable.device):
        value = variable.read_value()
    with device("/device:CPU:0"):
        return array_identity.identity(value)


class SaveGraphBuilder:
    """Adds the save and restore nodes to the default graph and describes them in a SaverDef."""

    def __init__(self, reshape: bool, sharded: bool, filename: str | None):
        self.reshape, self.sharded = reshape, sharded
        self.filename = filename or "model"

    def build(self, saveables: list[Saveable], name: str | None) -> saver_pb2.SaverDef:
        with name_scope(name, "save", [s.tensor for s in saveables if not callable(s.tensor)]):
            default = array_identity.placeholder_with_default(self.filename, shape=(), name="filename")
            # The name that a session feeds.
            prefix = array_identity.placeholder_with_default(default, shape=(), name="Const")
            if self.sharded:
                saved, restore = self._sharded(prefix, saveables)
            else:
                saved = self._save(prefix, saveables)
                restore = self._restore(prefix, saveables, "restore_all", None)
        return saver_pb2.SaverDef(
            filename_tensor_name=prefix.name,
            save_tensor_name=saved.name,
            restore_op_name=restore.name,
            sharded=self.sharded,
            version=saver_pb2.SaverDef.V2,
        )

    def save_at_once(self, path: str, saveables: list[Saveable]) -> None:
        """In eager execution: write them."""
        self._save(constant(path), saveables)

    def restore_at_once(self, path: str, saveables: list[Saveable]) -> None:
        """In eager execution: read and assign them."""
        self._restore(constant(path), saveables, "restore", None)

    def _save(self, prefix: Tensor, saveables: list[Saveable]) -> Tensor:
        """SaveV2 of these, and the file name once it has run."""
        values = [saveable.written() for saveable in saveables]
        with name_scope("SaveV2") as scope:
            names = constant([s.key for s in saveables], dtype=dtypes.string, name="tensor_names")
            specs = constant([s.slice_spec for s in saveables], dtype=dtypes.string, name="shape_and_slices")
            written = save.save_v2(prefix, names, specs, values, name=scope)
        saved: Tensor = with_dependencies([written], prefix)
        return saved

    def _restore(self, prefix: Tensor, saveables: list[Saveable], name: str, on: str | None) -> Operation:
        """RestoreV2 of these and the assignments, in one op called `name`."""
        with device(_cpu(on or "")), name_scope("RestoreV2") as scope:
            names = constant([s.key for s in saveables], dtype=dtypes.string, name="tensor_names")
            specs = constant([s.slice_spec for s in saveables], dtype=dtypes.string, name="shape_and_slices")
            types = [s.dtype for s in saveables]
            values = save.restore_v2(prefix, names, specs, dtypes=types, name=scope)
        assigned = [s.restore(value, self.reshape) for s, value in zip(saveables, values, strict=True) if s.owner is None]
        for owner in dict.fromkeys(s.owner for s in saveables if s.owner is not None):
            own = [value for s, value in zip(saveables, values, strict=True) if s.owner is owner]
            assigned.append(owner.restore(own, None))
        restored: Operation = group(*assigned, name=name)
        return restored

    def _sharded(self, prefix: Tensor, saveables: list[Saveable]) -> tuple[Tensor, Operation]:
        by_device: dict[str, list[Saveable]] = {}
        for saveable in saveables:
            by_device.setdefault(saveable.device, []).append(saveable)
        groups = sorted(by_device.items())
        with device("CPU"):
            suffixed = self._temporary_prefix(prefix)
        count = constant(len(groups), name="num_shards")
        files: list[Tensor] = []
        saved: list[Tensor] = []
        last_cpu = ""
        for shard, (on, members) in enumerate(groups):
            last_cpu = _cpu(on)
            with device(last_cpu):
                file = save.sharded_filename(suffixed, shard, count, name="ShardedFilename")
                files.append(file)
                saved.append(self._save(file, members))
        with control_dependencies(saved), device(last_cpu):
            done = self._merged(files, prefix)
        return done, self._restored_shards(prefix, groups)

    def _merged(self, files: list[Tensor], prefix: Tensor) -> Tensor:
        """The name of the checkpoint once its shards are in its place."""
        merged = save.merge_v2_checkpoints(files, prefix, delete_old_dirs=True)
        with control_dependencies([merged]):
            done: Tensor = get_op("Identity")(prefix, name="Identity")
        return done

    def _restored_shards(self, prefix: Tensor, groups: list[tuple[str, list[Saveable]]]) -> Operation:
        restores = []
        for on, members in groups:
            with device(on or None):
                restores.append(self._restore(prefix, members, "restore_shard", on))
        restored: Operation = group(*restores, name="restore_all")
        return restored

    def _temporary_prefix(self, prefix: Tensor) -> Tensor:
        """Shards go to a folder beside the checkpoint until MergeV2Checkpoints puts them in its place."""
        is_s3 = get_op("StaticRegexFullMatch")(prefix, pattern="^s3://.*")
        plain = constant(".part"), constant("_temp/part")
        chosen = get_op("Select")(is_s3, *plain)
        joined: Tensor = get_op("StringJoin")([prefix, chosen], separator="")
        return joined


def _cpu(on: str) -> str:
    """The CPU of the task that a device belongs to."""
    name = DeviceName.parse(on)
    return str(DeviceName(name.job, name.replica, name.task, "CPU", 0))
