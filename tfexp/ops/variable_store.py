"""The variables that `tf.get_variable` shares by name: one store for each graph. Source: TF 1.15.

A request comes with its full name and with all that a `VariableScope` hands down. The store finds the variable or makes it
(with `tf.Variable`, so that nodes and collections are the same), as one variable or as the parts of a partitioned one.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import add_to_collection, executing_eagerly, get_collection, get_default_graph, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array_slice
from tfexp.ops.initializers import glorot_uniform_initializer, zeros_initializer
from tfexp.ops.partitioned_variable import PartitionedVariable, call_partitioner, slices
from tfexp.ops.regularization import add_regularization_loss
from tfexp.ops.save_slice import SaveSliceInfo
from tfexp.ops.variable_base import Variable, VariableAggregation, VariableSynchronization

# What `reuse` may be besides True and False or None (which is False here): see `tf.AUTO_REUSE`.
Reuse = Any


@dataclass(frozen=True)
class PartitionInfo:
    """What an initializer may ask about the part that it is to fill: the whole's shape and where in it the part begins.

    TypeError for what are no sequences; ValueError for sequences of different lengths, and a part that begins outside.
    """

    full_shape: Any
    var_offset: Any

    def __post_init__(self) -> None:
        for name, given in (("full_shape", self.full_shape), ("var_offset", self.var_offset)):
            if not isinstance(given, Sequence) or isinstance(given, str):
                raise TypeError(f"`{name}` must be a sequence (like tuple or list) instead of {type(given).__name__}")
        if len(self.var_offset) != len(self.full_shape):
            raise ValueError(
                f"Expected equal length, but `var_offset` is of length {len(self.var_offset)} while full_shape is of length "
                f"{len(self.full_shape)}."
            )
        for offset, size in zip(self.var_offset, self.full_shape, strict=True):
            if not 0 <= offset < size:
                raise ValueError(
                    f"Expected 0 <= offset < shape but found offset={offset}, shape={size} for var_offset="
                    f"{self.var_offset}, full_shape={self.full_shape}"
                )

    def single_offset(self, shape: Sequence[int]) -> int:
        """The offset along the partitioned dimension; along the first if there is none."""
        return int(self.var_offset[self.single_slice_dim(shape) or 0])

    def single_slice_dim(self, shape: Sequence[int]) -> int | None:
        """The dimension along which a part of `shape` is cut, None if it is the whole; ValueError if there are several."""
        if len(shape) != len(self.full_shape):
            raise ValueError(f"Expected equal length, but shape={shape} and self.full_shape={self.full_shape}")
        for i, (begin, part, whole) in enumerate(zip(self.var_offset, shape, self.full_shape, strict=True)):
            if begin + part > whole:
                raise ValueError(
                    f"With self.var_offset={self.var_offset}, a partition of shape={shape} would exceed self.full_shape="
                    f"{self.full_shape} in dimension {i}."
                )
        cut = [i for i, (part, whole) in enumerate(zip(shape, self.full_shape, strict=True)) if part != whole]
        if len(cut) > 1:
            raise ValueError(
                f"Cannot use single_slice_dim() with shape={shape} and self.full_shape={self.full_shape} since slice dim "
                f"could be either dimension {cut[1]} or {cut[0]}."
            )
        return cut[0] if cut else None


@dataclass(frozen=True)
class Request:
    """The arguments of `tf.get_variable`, scopes' defaults filled in."""

    name: str | None
    shape: Any = None
    dtype: Any = dtypes.float32
    initializer: Any = None
    regularizer: Callable[[Any], Any] | None = None
    reuse: Reuse = None
    trainable: bool | None = None
    collections: Sequence[Any] | None = None
    caching_device: Any = None
    partitioner: Callable[..., Sequence[int]] | None = None
    validate_shape: bool = True
    use_resource: bool | None = None
    constraint: Callable[[Any], Any] | None = None
    synchronization: VariableSynchronization = VariableSynchronization.AUTO
    aggregation: VariableAggregation = VariableAggregation.NONE


class VariableStore:
    """Variables by full name; the parts of a partitioned variable under `<name>/part_<i>`."""

    def __init__(self) -> None:
        self._vars: dict[str, Any] = {}
        self._partitioned_vars: dict[str, PartitionedVariable] = {}

    def get_variable(
        self, name: str, shape: Any = None, dtype: Any = dtypes.float32, initializer: Any = None, **settings: Any
    ) -> Any:
        """As `tf.get_variable`, of the full name. `reuse`: None makes the variable or shares it, as it may be."""
        custom_getter = settings.pop("custom_getter", None)
        return self.get(Request(name, shape, dtype, initializer, **settings), custom_getter)

    def get(self, request: Request, custom_getter: Callable[..., Any] | None = None) -> Any:
        """The variable that `request` names or describes; `custom_getter(getter=…, **arguments)` may change both."""
        if custom_getter is not None and not callable(custom_getter):
            raise ValueError(f"Passed a custom_getter which is not callable: {custom_getter}")
        if custom_getter is None:
            return self._get(request)
        arguments = {key: getattr(request, key) for key in Request.__dataclass_fields__}
        return custom_getter(getter=lambda *args, **changed: self._get(Request(*args, **changed)), **arguments)

    def _get(self, request: Request) -> Any:
        is_scalar = request.shape is not None and isinstance(request.shape, (list, tuple)) and not request.shape
        if request.partitioner is not None and not is_scalar:
            if not callable(request.partitioner):
                raise ValueError(f"Partitioner must be callable, but received: {request.partitioner}")
            return self.get_partitioned(request)
        first_part = f"{request.name}/part_0"
        if request.reuse is True and request.partitioner is None and request.name in self._partitioned_vars:
            return self.get_partitioned(request)
        if first_part in self._vars:
            raise ValueError(
                f"No partitioner was provided, but a partitioned version of the variable was found: {first_part}. Perhaps a "
                "variable of the same name was already created with partitioning?"
            )
        return self._get_single(request)

    # --- one variable ----------------------------------------------------------------------------------------------

    def _get_single(self, request: Request, partition_info: PartitionInfo | None = None) -> Any:
        initializer, dtype = request.initializer, dtypes.as_dtype(request.dtype or dtypes.float32)
        by_value = initializer is not None and not callable(initializer)
        if by_value and request.shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        shape = as_shape(request.shape)
        if request.name in self._vars:
            return self._shared(request, shape, dtype)
        if request.reuse is True:
            raise ValueError(
                f"Variable {request.name} does not exist, or was not created with tf.get_variable(). Did you mean to set "
                "reuse=tf.AUTO_REUSE in VarScope?"
            )
        if initializer is None:
            initializer = _default_initializer(request.name, shape, dtype)
        with get_default_graph().control_dependencies(None):
            initial_value, variable_dtype = initializer, None
            if not by_value:
                initial_value, variable_dtype = _from_function(initializer, shape, dtype, partition_info)
            variable = Variable(
                initial_value=initial_value,
                name=request.name,
                trainable=request.trainable,
                collections=request.collections,
                caching_device=request.caching_device,
                dtype=variable_dtype,
                validate_shape=request.validate_shape,
                constraint=request.constraint,
                use_resource=request.use_resource,
                synchronization=request.synchronization,
                aggregation=request.aggregation,
                shape=None if shape.rank is None else shape,
            )
        self._vars[request.name] = variable  # type: ignore[index]
        if executing_eagerly() and self in get_collection(_STORE):
            self._collect(variable, request.collections)
        if request.regularizer:
            add_regularization_loss(str(request.name), variable, request.regularizer)
        return variable

    def _collect(self, variable: Any, collections: Sequence[Any] | None) -> None:
        """Of eager variables only those of an EagerVariableStore, which live as long as it does, are in collections."""
        trainable = [GraphKeys.TRAINABLE_VARIABLES] if variable.trainable else []
        for key in dict.fromkeys([*(collections or [GraphKeys.GLOBAL_VARIABLES]), *trainable]):
            add_to_collection(key, variable)

    def _shared(self, request: Request, shape: TensorShape, dtype: DType) -> Any:
        name = request.name
        found = self._vars[name]  # type: ignore[index]
        if request.reuse is not None and not request.reuse:
            raise ValueError(
                f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in "
                f"VarScope?{_defined_at(found)}"
            )
        if not shape.is_compatible_with(found.get_shape()):
            raise ValueError(
                f"Trying to share variable {name}, but specified shape {shape} and found shape {found.get_shape()}."
            )
        if not dtype.is_compatible_with(found.dtype):
            raise ValueError(
                f"Trying to share variable {name}, but specified dtype {dtype.name} and found dtype {found.dtype.name}."
            )
        return found

    # --- the parts of one ------------------------------------------------------------------------------------------

    def get_partitioned(self, request: Request) -> PartitionedVariable:
        """The partitioned variable of that name, its parts cut as the partitioner of `request` says."""
        name, dtype = str(request.name), dtypes.as_dtype(request.dtype or dtypes.float32)
        if name in self._vars:
            raise ValueError(
                f"A partitioner was provided, but an unpartitioned version of the variable was found: {name}. Perhaps a "
                "variable of the same name was already created without partitioning?"
            )
        shape = as_shape(request.shape)
        by_value = request.initializer is not None and not callable(request.initializer)
        if by_value:
            shape = shape.merge_with(_shape_of(request.initializer))
        if isinstance(request.initializer, Tensor):
            dtype = request.initializer.dtype.base_dtype
        partitions = None
        if request.partitioner is not None:
            partitions = call_partitioner(request.partitioner, shape, dtype)
        if name in self._partitioned_vars:
            return _shared_parts(self._partitioned_vars[name], request, shape, dtype, partitions)
        if request.reuse is True or partitions is None:
            raise ValueError(
                f"PartitionedVariable {name} does not exist, or was not created with tf.get_variable(). Did you mean to set "
                "reuse=False or reuse=tf.AUTO_REUSE in VarScope?"
            )
        parts = []
        for i, (offset, part_shape) in enumerate(slices(shape.as_list(), partitions)):
            part = self._make_part(replace(request, name=f"{name}/part_{i}"), shape, dtype, offset, part_shape)
            part._set_save_slice_info(SaveSliceInfo(name, shape.as_list(), offset, part_shape))  # type: ignore[arg-type]
            parts.append(part)
        variable = PartitionedVariable(name, shape, dtype, parts, partitions)
        self._partitioned_vars[name] = variable
        return variable

    def _make_part(
        self, request: Request, full_shape: TensorShape, dtype: DType, offset: list[int], part_shape: list[int]
    ) -> Any:
        initializer = request.initializer
        with name_scope(f"{request.name}/PartitionedInitializer"):
            if initializer is None:
                initializer = _default_initializer(request.name, full_shape, dtype)
            elif not callable(initializer):
                whole = convert_to_tensor(initializer, dtype=None if isinstance(initializer, Tensor) else dtype)
                initializer = array_slice.slice(whole, offset, part_shape)
        shape, dtype = (part_shape, dtype) if callable(initializer) else (None, initializer.dtype.base_dtype)
        with name_scope(None):
            part = replace(request, shape=shape, dtype=dtype, initializer=initializer, partitioner=None)
            return self._get_single(part, PartitionInfo(full_shape.as_list(), offset))


def variable_store() -> VariableStore:
    """The store of the default graph."""
    # A collection, so that it lives and dies with the graph; only strings are names that a user or a MetaGraph sees.
    # In eager execution only an EagerVariableStore is there for longer than one call; the functions that are built there
    # have one store together.
    graph = get_default_graph().outermost
    kept = graph.get_collection_ref(_STORE)
    if not kept and graph.is_eager:
        if executing_eagerly():
            return VariableStore()
        kept = graph.get_collection_ref(_STORE_OF_FUNCTIONS)
    if not kept:
        kept.append(VariableStore())
    store: VariableStore = kept[0]
    return store


_STORE = ("variable store",)
_STORE_OF_FUNCTIONS = ("variable store of functions",)


class EagerVariableStore:
    """Lets `tf.get_variable` share variables by name in eager execution: `with store.as_default(): …`.

    Source: `tf.contrib.eager.EagerVariableStore`.
    """

    def __init__(self, store: VariableStore | None = None):
        self._store = VariableStore() if store is None else store

    @contextlib.contextmanager
    def as_default(self) -> Iterator[None]:
        """Requests of the default graph go to this store in the block."""
        kept = get_default_graph().outermost.get_collection_ref(_STORE)
        kept.insert(0, self._store)
        try:
            yield
        finally:
            kept.remove(self._store)

    def variables(self) -> list[Any]:
        """All variables of the store, by name."""
        return [variable for _, variable in sorted(self._store._vars.items())]

    def trainable_variables(self) -> list[Any]:
        return [v for v in self.variables() if v.trainable]

    def non_trainable_variables(self) -> list[Any]:
        return [v for v in self.variables() if not v.trainable]

    def copy(self) -> EagerVariableStore:
        """A store of new variables that have these ones' names and values."""
        copied = EagerVariableStore()
        for name, variable in self._store._vars.items():
            copied._store._vars[name] = Variable(initial_value=variable.numpy(), name=name, trainable=variable.trainable)
        return copied


def _shared_parts(
    found: PartitionedVariable, request: Request, shape: TensorShape, dtype: DType, partitions: list[int] | None
) -> PartitionedVariable:
    if not request.reuse:
        raise ValueError(
            f"Partitioned variable with name {request.name} already exists. Did you mean to set reuse=True or "
            "reuse=tf.AUTO_REUSE in VarScope?"
        )
    trying = f"Trying to reuse partitioned variable {request.name}, but specified"
    if not shape.is_compatible_with(found.get_shape()):
        raise ValueError(f"{trying} shape {shape} and found shape {found.get_shape()}.")
    if not dtype.is_compatible_with(found.dtype):
        raise ValueError(f"{trying} dtype {dtype.name} and found dtype {found.dtype.name}.")
    if partitions is not None and found._get_partitions() != partitions:
        raise ValueError(f"{trying} partitions {partitions} and found partitions {found._get_partitions()}.")
    return found


def _shape_of(value: Any) -> TensorShape:
    shape = getattr(value, "get_shape", None)
    return TensorShape(np.shape(value)) if shape is None else shape()


def _defined_at(variable: Any) -> str:
    """Where the program made it, as Python's tracebacks write it; of a variable that has no op nobody knows."""
    op = getattr(variable, "op", None)
    if op is None:
        return ""
    file, _, line = op.origin.rpartition(":")
    return f' Originally defined at:\n\n  File "{file}", line {line}\n'


def _default_initializer(name: str | None, shape: TensorShape, dtype: DType) -> Any:
    """Glorot's uniform initializer for floats, zeros for integers, bools and strings; ValueError for the rest."""
    if shape.rank is None:
        raise ValueError(f"Variable {name} did not get an initializer, so its `shape` argument must be specified.")
    if dtype.is_floating:
        return glorot_uniform_initializer()
    if dtype.is_integer or dtype.is_bool or dtype is dtypes.string:
        return zeros_initializer()
    raise ValueError(f"An initializer for variable {name} of {dtype.base_dtype} is required")


def _from_function(
    initializer: Any, shape: TensorShape, dtype: DType, partition_info: PartitionInfo | None
) -> tuple[Callable[[], Any], DType | None]:
    """The function without arguments that `tf.Variable` takes, and the dtype to ask of its result."""
    if inspect.isclass(initializer):
        initializer = initializer()
    parameters = inspect.signature(initializer).parameters
    if shape.is_fully_defined():
        arguments = {"dtype": dtype.base_dtype}
        if "partition_info" in parameters:
            arguments["partition_info"] = partition_info  # type: ignore[assignment]
        return lambda: initializer(shape.as_list(), **arguments), dtype.base_dtype
    required = [p for p in parameters.values() if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if required:
        raise ValueError(
            "The initializer passed is not valid. It should be a callable with no arguments and the shape should not be "
            "provided or an instance of `tf.keras.initializers.*' and `shape` should be fully defined."
        )
    return initializer, None
