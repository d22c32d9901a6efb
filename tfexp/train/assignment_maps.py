"""`tf.train.init_from_checkpoint`: variables whose initial values are a checkpoint's. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfexp.core.shape import as_shape
from tfexp.formats.checkpoint_reader import CheckpointReader
from tfexp.formats.checkpoints import open_checkpoint
from tfexp.graph.scopes import device
from tfexp.ops import resource_state, save, state
from tfexp.ops.array_identity import identity
from tfexp.ops.partitioned_variable import PartitionedVariable
from tfexp.ops.resource_variables import is_resource_variable
from tfexp.ops.variable_base import Variable
from tfexp.ops.variable_store import variable_store
from tfexp.train.checkpoint_utils import checkpoint_of


def init_from_checkpoint(ckpt_dir_or_file: str, assignment_map: Mapping[str, Any]) -> None:
    """From here on, initializing these variables gives them a checkpoint's values.

    assignment_map: {name in the checkpoint: variable, its name, or the list of its parts}, or {scope in the checkpoint:
    scope here}, both with a slash at their end, for all variables below (`"/"`: the root). ValueError, naming both sides,
    for what the checkpoint or the graph does not have and where shapes differ.
    """
    path = checkpoint_of(ckpt_dir_or_file)
    with open_checkpoint(path) as reader:
        shapes = reader.get_variable_to_shape_map()
        for name, target in sorted(assignment_map.items()):
            if isinstance(target, str) and (name.endswith("/") or target.endswith("/")):
                for tensor_name, variable in _below(name, target):
                    _initialize(variable, reader, shapes, path, tensor_name)
            else:
                _initialize(_variable(target), reader, shapes, path, name)


def _variable(target: Any) -> Any:
    """The variable, or the parts of one, that is named or given."""
    if not isinstance(target, str):
        is_list = isinstance(target, (list, tuple)) and all(isinstance(part, Variable) for part in target)
        if not (is_list or isinstance(target, (Variable, PartitionedVariable))):
            raise ValueError(f"assignment_map's values are variables, lists of a variable's parts, or names: {target!r}")
        return target
    store = variable_store()
    found = store._vars.get(target, store._partitioned_vars.get(target))
    if found is None:
        raise ValueError(f"Variable {target} is not found in the graph: it has {', '.join(sorted(store._vars))}")
    return found


def _below(scope_there: str, scope_here: str) -> list[tuple[str, Any]]:
    """(name in the checkpoint, variable) of the variables below a scope."""
    for scope in (scope_there, scope_here):
        if not scope.endswith("/"):
            raise ValueError(
                f"Assignment map with scope only name {scope_there} should map to scope only {scope_here}: both end in '/'"
            )
    here, there = ("" if scope == "/" else scope for scope in (scope_here, scope_there))
    store = variable_store()
    whole = {name: v for name, v in store._vars.items() if getattr(v, "_save_slice_info", None) is None}
    found = {**whole, **store._partitioned_vars}
    return [(there + name[len(here) :], found[name]) for name in sorted(found) if name.startswith(here)]


def _initialize(variable: Any, reader: CheckpointReader, shapes: Mapping[str, Any], path: str, name: str) -> None:
    if name not in shapes:
        raise ValueError(f"Tensor {name} is not found in {path} checkpoint {dict(shapes)}")
    parts: list[Any] = [variable] if isinstance(variable, Variable) else list(variable)
    info = parts[0]._save_slice_info
    whole = parts[0].shape if info is None else as_shape(info.full_shape)
    if not as_shape(shapes[name]).is_compatible_with(whole):
        raise ValueError(
            f"Shape of variable {parts[0].name} ({whole}) doesn't match with shape of tensor {name} ({shapes[name]}) from "
            "checkpoint reader."
        )
    for part in parts:
        _restore_at_start(part, path, name)


def _restore_at_start(variable: Any, path: str, name: str) -> None:
    """Nodes that read the value, as the variable's initial value."""
    info = variable._save_slice_info
    with device(variable.device), device("/cpu:0"):
        value = save.restore_v2(
            path,
            [name],
            ["" if info is None else info.spec],
            dtypes=[variable.dtype.base_dtype],
            name="checkpoint_initializer",
        )[0]
        value.set_shape(variable.shape)
        if is_resource_variable(variable):
            variable._initializer_op = resource_state.assign_variable_op(variable.handle, identity(value))
        else:
            variable._initializer_op = state.assign(variable, value).op
    variable._initial_value = value
