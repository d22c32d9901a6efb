"""`tf.contrib.framework`: making, finding and restoring variables. Source: TF 1.15."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tfexp.contributed.arg_scope import add_arg_scope
from tfexp.core.shape import as_shape
from tfexp.formats.checkpoints import open_checkpoint
from tfexp.graph.collections import GraphKeys
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import add_to_collection, device, get_collection
from tfexp.ops.array_identity import placeholder
from tfexp.ops.variable_base import Variable
from tfexp.ops.variable_scope import get_variable
from tfexp.train.saver import Saver

# --- making -------------------------------------------------------------------------------------------------------------


@add_arg_scope
def variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    use_resource: bool | None = None,
    **kwargs: Any,
) -> Any:
    """`tf.get_variable` on `device` (a name, or a function of the node), in `collections` besides GLOBAL_VARIABLES.

    custom_getter: called in the place of `tf.get_variable`.
    """
    keys = list(collections) if collections is not None else [GraphKeys.GLOBAL_VARIABLES]
    if not {GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES} & set(keys):
        keys.append(GraphKeys.GLOBAL_VARIABLES)
    with _on(device):
        return (custom_getter or get_variable)(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
            collections=list(dict.fromkeys(keys)),
            caching_device=caching_device,
            partitioner=partitioner,
            use_resource=use_resource,
            **kwargs,
        )


def _on(where: Any) -> Any:
    return device(where or "")


@add_arg_scope
def model_variable(name: str, *args: Any, collections: Any = None, **kwargs: Any) -> Any:
    """A `variable` that is also in MODEL_VARIABLES: part of the model rather than of its training."""
    keys = [*(collections or []), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    return variable(name, *args, collections=keys, **kwargs)


def local_variable(initial_value: Any, validate_shape: bool = True, name: str | None = None, **kwargs: Any) -> Any:
    """A variable in LOCAL_VARIABLES, that training leaves alone."""
    return Variable(
        initial_value,
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES],
        validate_shape=validate_shape,
        name=name,
        **kwargs,
    )


def global_variable(
    initial_value: Any, validate_shape: bool = True, name: str | None = None, use_resource: bool | None = None
) -> Any:
    """A variable in GLOBAL_VARIABLES, that training leaves alone."""
    return Variable(
        initial_value,
        trainable=False,
        collections=[GraphKeys.GLOBAL_VARIABLES],
        validate_shape=validate_shape,
        name=name,
        use_resource=use_resource,
    )


class VariableDeviceChooser:
    """The device of each variable in turn: task 0, 1, … of `num_tasks` parameter servers, or without them here."""

    def __init__(
        self,
        num_tasks: int = 0,
        job_name: str = "ps",
        device_type: str = "CPU",
        device_index: int = 0,
        replica: int | None = None,
    ):
        self._tasks, self._next = num_tasks, 0
        self._parts = [] if replica is None else [f"/replica:{replica}"]
        self._job, self._device = f"/job:{job_name}", f"/device:{device_type}:{device_index}"

    def __call__(self, op: Any) -> str:
        if self._tasks == 0:
            return "".join([*self._parts, self._device])
        task, self._next = self._next, (self._next + 1) % self._tasks
        return "".join([self._job, *self._parts, f"/task:{task}", self._device])


def add_model_variable(var: Any) -> None:
    """Put a variable into MODEL_VARIABLES unless it is there."""
    if not any(var is other for other in get_collection(GraphKeys.MODEL_VARIABLES)):
        add_to_collection(GraphKeys.MODEL_VARIABLES, var)


# --- finding ------------------------------------------------------------------------------------------------------------


def get_variables(scope: Any = None, suffix: str | None = None, collection: Any = GraphKeys.GLOBAL_VARIABLES) -> list[Any]:
    """Variables of a collection, below a scope (a name or a VariableScope), whose names end in `suffix`."""
    below = getattr(scope, "name", scope)
    if suffix is not None:
        end = suffix if ":" in suffix else f"{suffix}:"
        pattern = f"{below or ''}.*{end}"
        return [v for v in get_collection(collection) if re.match(pattern, v.name)]
    return get_collection(collection, below)


def get_model_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """Model variables in `scope`, whose names end in `suffix`."""
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """Local variables in `scope`, whose names end in `suffix`."""
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """Trainable variables in `scope`, whose names end in `suffix`."""
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    """Variables in `scope` whose names end in `suffix`."""
    return get_variables(scope, suffix)


def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """Variables whose name, without scopes, is that."""
    return get_variables(scope, f"/{given_name}:|^{given_name}:")


def get_unique_variable(var_op_name: str) -> Any:
    """The variable of that name; ValueError where there is none."""
    for candidate in get_collection(GraphKeys.GLOBAL_VARIABLES, var_op_name):
        if candidate.op.name == var_op_name:
            return candidate
    raise ValueError(f"Variable {var_op_name} not found or not unique.")


def filter_variables(
    var_list: Sequence[Any], include_patterns: Any = None, exclude_patterns: Any = None, reg_search: bool = True
) -> list[Any]:
    """The variables whose names match one of `include_patterns` (None: all) and none of `exclude_patterns`."""
    matches = re.search if reg_search else re.match
    kept = list(var_list)
    if include_patterns is not None:
        kept = [v for v in kept if any(matches(pattern, v.name) for pattern in include_patterns)]
    if exclude_patterns is not None:
        kept = [v for v in kept if not any(matches(pattern, v.name) for pattern in exclude_patterns)]
    return kept


def get_variables_to_restore(include: Sequence[str] | None = None, exclude: Sequence[str] | None = None) -> list[Any]:
    """The variables below the scopes of `include` (None: all) and not below those of `exclude`."""
    chosen = get_variables() if include is None else [v for scope in include for v in get_variables(scope)]
    excluded = {id(v) for scope in exclude or () for v in get_variables(scope)}
    return [v for v in chosen if id(v) not in excluded]


def get_variable_full_name(var: Any) -> str:
    """What a checkpoint calls the variable: of a part, the name of the whole."""
    part = getattr(var, "_save_slice_info", None)
    name: str = part.full_name if part is not None else var.op.name
    return name


# --- values from elsewhere ----------------------------------------------------------------------------------------------


def assign_from_values(var_names_to_values: Mapping[str, Any]) -> tuple[Any, dict[Any, Any]]:
    """(an operation, its feeds) that together set the variables of these names to these values."""
    feeds, assignments = {}, []
    for name, value in var_names_to_values.items():
        value = np.asarray(value)
        var = get_unique_variable(name)
        holder = placeholder(var.dtype.base_dtype, shape=value.shape)
        assignments.append(var.assign(holder).op)
        feeds[holder] = value
    return group(*assignments), feeds


def assign_from_values_fn(var_names_to_values: Mapping[str, Any]) -> Callable[[Any], None]:
    """A function of a session that does what `assign_from_values` describes."""
    operation, feeds = assign_from_values(var_names_to_values)
    return lambda session: session.run(operation, feeds)


def _by_name(var_list: Any) -> dict[str, list[Any]]:
    """{name in the checkpoint: the variable, or the parts of one}."""
    if isinstance(var_list, Mapping):
        return {name: list(v) if isinstance(v, (list, tuple)) else [v] for name, v in var_list.items()}
    named: dict[str, list[Any]] = {}
    for var in var_list:
        named.setdefault(get_variable_full_name(var), []).append(var)
    return named


def assign_from_checkpoint(model_path: str, var_list: Any, ignore_missing_vars: bool = False) -> tuple[Any, dict[Any, Any]]:
    """(an operation, its feeds) that set variables, a list or {name in the checkpoint: variable}, to a checkpoint's values.

    ValueError where the checkpoint lacks one, unless `ignore_missing_vars`, or has it in another shape.
    """
    reader = open_checkpoint(model_path)
    feeds, assignments = {}, []
    for name, parts in _by_name(var_list).items():
        if not reader.has_tensor(name):
            if ignore_missing_vars:
                continue
            raise ValueError(f"Checkpoint is missing variable [{name}]")
        value = reader.get_tensor(name)
        for var in parts:
            part = getattr(var, "_save_slice_info", None)
            here = value
            if part is not None:
                where = zip(part.var_offset, part.var_shape, strict=True)
                here = value[tuple(slice(begin, begin + size) for begin, size in where)]
            if not as_shape(here.shape).is_compatible_with(var.get_shape()):
                raise ValueError(
                    f"Total size of new array must be unchanged for {name} lh_shape: [{var.get_shape()}], "
                    f"rh_shape: [{list(here.shape)}]"
                )
            holder = placeholder(var.dtype.base_dtype, shape=here.shape, name=f"checkpoint/{var.op.name}")
            assignments.append(var.assign(holder).op)
            feeds[holder] = here
    return group(*assignments), feeds


def assign_from_checkpoint_fn(
    model_path: str, var_list: Any, ignore_missing_vars: bool = False, reshape_variables: bool = False
) -> Callable[[Any], None]:
    """A function of a session that restores the variables from the checkpoint. ValueError when there are none to restore."""
    if not var_list:
        raise ValueError("var_list cannot be empty")
    named = _by_name(var_list)
    if ignore_missing_vars:
        reader = open_checkpoint(model_path)
        named = {name: parts for name, parts in named.items() if reader.has_tensor(name)}
    chosen = {name: parts if len(parts) > 1 else parts[0] for name, parts in named.items()}
    saver = Saver(chosen, reshape=reshape_variables) if chosen else None
    return lambda session: None if saver is None else saver.restore(session, model_path)
