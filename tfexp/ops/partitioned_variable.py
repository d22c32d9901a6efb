"""`PartitionedVariable`: one large variable kept as several, cut along one dimension."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfexp.core.dtypes import DType, as_dtype
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.convert import convert_to_tensor, register_tensor_conversion_function
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat
from tfexp.ops.array_split import split


def call_partitioner(partitioner: Callable[..., Any], shape: TensorShape, dtype: DType) -> list[int]:
    """How many parts the partitioner wants along each dimension; ValueError where it cannot be done."""
    if not shape.is_fully_defined():
        raise ValueError(f"Shape of a new partitioned variable must be fully defined, but instead was {shape}.")
    dims = shape.as_list()
    if not dims:
        raise ValueError(f"A partitioned Variable must have rank at least 1: shape: {shape}")
    partitions = partitioner(shape=shape, dtype=dtype)
    if not isinstance(partitions, Sequence):
        raise ValueError(f"Partitioner must return a sequence, but saw: {partitions}")
    partitions = list(partitions)
    if len(partitions) != len(dims):
        raise ValueError(
            f"Partitioner returned a partition list that does not match the Variable's rank: {partitions} vs. {shape}"
        )
    if any(p < 1 for p in partitions):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {partitions}")
    if sum(p > 1 for p in partitions) > 1:
        raise ValueError(f"Can only slice a variable along one dimension: shape: {shape}, partitioning: {partitions}")
    axis = partitioned_axis(partitions)
    if partitions[axis] > max(dims[axis], 1):  # type: ignore[type-var]
        raise ValueError(
            f"Cannot cut dimension {axis} of a variable of shape {shape} into {partitions[axis]} parts: it has {dims[axis]}"
        )
    return partitions


def partitioned_axis(partitions: Sequence[int]) -> int:
    """The dimension that is cut; 0 when there is only one part."""
    return next((i for i, p in enumerate(partitions) if p > 1), 0)


def slices(full_shape: Sequence[Any], partitions: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """(offset, shape) of each part. Where the parts cannot be equal, the first ones are larger by one."""
    axis = partitioned_axis(partitions)
    length, more = divmod(full_shape[axis], partitions[axis])
    lengths = [length + (i < more) for i in range(partitions[axis])]
    for start, size in zip(itertools.accumulate([0, *lengths]), lengths, strict=False):
        offset, shape = [0] * len(full_shape), list(full_shape)
        offset[axis], shape[axis] = start, size
        yield offset, shape


class PartitionedVariable:
    """The parts of a variable, in order: iterate over them, or use it as one tensor. Source: TF 1.15.

    `tf.get_variable` makes these when a partitioner is in force. Each part is a variable `name/part_<i>` of its own;
    a checkpoint stores the parts as slices of one tensor `name`.
    """

    def __init__(self, name: str, shape: TensorShape, dtype: DType, variable_list: Sequence[Any], partitions: Sequence[int]):
        if not isinstance(variable_list, (list, tuple)):
            raise TypeError(f"variable_list is not a list or tuple: {variable_list}")
        if not isinstance(partitions, (list, tuple)):
            raise TypeError(f"partitions is not a list or tuple: {partitions}")
        if any(p < 1 for p in partitions):
            raise ValueError(f"partition values must be positive: {partitions}")
        if not variable_list:
            raise ValueError("variable_list may not be empty")
        for variable in variable_list:
            if variable._get_save_slice_info() is None:
                raise ValueError(
                    f"The parts of {name} must have a save_slice_info available: {[v.name for v in variable_list]}; "
                    f"{variable.name} has none"
                )
        wholes = [variable._get_save_slice_info().full_shape for variable in variable_list]
        if any(whole != as_shape(shape).as_list() for whole in wholes):
            raise ValueError(f"All variables' full shapes must match shape: {shape}; full shapes of the parts: {wholes}")
        self._name, self._shape, self._dtype = name, shape, dtype
        self._variable_list = sorted(variable_list, key=lambda v: v._get_save_slice_info().var_offset)
        self._partitions = list(partitions)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._variable_list)

    def __len__(self) -> int:
        return len(self._variable_list)

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """Of the whole."""
        return self._shape

    def get_shape(self) -> TensorShape:
        return self._shape

    @property
    def _distribute_strategy(self) -> None:
        return None

    def _get_variable_list(self) -> list[Any]:
        return self._variable_list

    def _get_partitions(self) -> list[int]:
        return self._partitions

    def _partition_axes(self) -> list[int]:
        """The dimensions that are cut, [0] when there is only one part."""
        return [i for i, p in enumerate(self._partitions) if p > 1] or [0]

    def as_tensor(self) -> Tensor:
        """The parts joined, as a new tensor named like the variable."""
        with control_dependencies(None):
            return self._concat()

    def _concat(self) -> Tensor:
        """The same, which waits for what nodes wait for here."""
        parts = self._variable_list
        if len(parts) == 1:
            with name_scope(None):
                return identity(parts[0], name=self._name)
        with name_scope(self._name + "/ConcatPartitions/"):
            whole = concat(parts, partitioned_axis(self._partitions))
        with name_scope(None):
            return identity(whole, name=self._name)

    def _pieces(self, value: Any) -> Any:
        """A value for each part: of a list as they are, of a variable as this one its parts, else pieces of the whole."""
        if isinstance(value, PartitionedVariable):
            return value._variable_list
        if isinstance(value, list):
            assert len(value) == len(self._variable_list), f"{len(value)} values for {len(self._variable_list)} parts"
            return value
        value = convert_to_tensor(value, dtype=as_dtype(self._dtype).base_dtype)
        axis = partitioned_axis(self._partitions)
        sizes = [v.get_shape().as_list()[axis] for v in self._variable_list]
        return split(value, sizes, axis=axis)

    def _each(self, method: str, value: Any, name: str | None, read_value: bool) -> list[Any]:
        pieces = self._pieces(value)
        return [
            getattr(v, method)(piece, name=name, read_value=read_value)
            for v, piece in zip(self._variable_list, pieces, strict=True)
        ]

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> list[Any]:
        """Set the whole from a tensor of its shape, or from a list with the value of each part: one assignment for each."""
        return self._each("assign", value, name, read_value)

    def assign_add(
        self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> list[Any]:
        """Add a tensor of the whole's shape."""
        return self._each("assign_add", value, name, read_value)

    def assign_sub(
        self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> list[Any]:
        """Subtract a tensor of the whole's shape."""
        return self._each("assign_sub", value, name, read_value)

    def __matmul__(self, other: Any) -> Any:
        return self.as_tensor() @ other  # type: ignore[operator]


def _to_tensor(value: PartitionedVariable, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    if dtype is not None and not as_dtype(dtype).is_compatible_with(value.dtype):
        raise ValueError(
            f"Incompatible type conversion requested to type {as_dtype(dtype).name!r} for variable of type "
            f"{value.dtype.name!r}"
        )
    if as_ref:
        raise NotImplementedError(f"PartitionedVariable {value.name} has no single reference: update its parts")
    return value.as_tensor()


register_tensor_conversion_function(PartitionedVariable, _to_tensor)
