"""`tf.RaggedTensor`: the class, how one is made of values and of what says where rows begin, and what it knows of rows."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.nest import Composite
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.specs_of_values import register_type_spec_from_value_converter
from tfexp.graph.tensor import Tensor
from tfexp.graph.type_spec import BatchableTypeSpec, TensorSpec, batched, unbatched
from tfexp.ops import array, array_fill, array_join, cumulative, reduce
from tfexp.ops.cast import cast
from tfexp.ragged_tensors import rows
from tfexp.ragged_tensors.value import RaggedTensorValue


class RaggedTensor(Composite):
    """Row i is values[row_splits[i]:row_splits[i + 1]]. `values` is a Tensor, or a RaggedTensor for rows of rows.

    Made by the class methods, `tf.ragged.constant` and others.
    """

    def __init__(
        self,
        values: Any,
        row_splits: Tensor,
        cached_row_lengths: Any = None,
        cached_value_rowids: Any = None,
        cached_nrows: Any = None,
        internal: bool = False,
    ):
        """TensorFlow's caches are taken and not needed. ValueError unless `internal`."""
        if not internal:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods instead (e.g., "
                "RaggedTensor.from_row_lengths())"
            )
        if not isinstance(row_splits, Tensor):
            raise TypeError(f"row_splits must be a Tensor, got {row_splits!r}")
        if not isinstance(values, (Tensor, RaggedTensor)):
            raise TypeError(f"values must be a Tensor or RaggedTensor, got {values!r}")
        row_splits.set_shape([None])
        if values.shape.rank == 0:
            raise ValueError("values must have at least one dimension")
        if isinstance(values, RaggedTensor) and values.row_splits.dtype != row_splits.dtype:
            raise ValueError("row_splits and values.row_splits must have the same dtype")
        self._values, self._row_splits = values, row_splits

    # --- how it is made -----------------------------------------------------------------------------------------------

    @classmethod
    def from_row_splits(cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True) -> RaggedTensor:
        with name_scope(name, "RaggedFromRowSplits", [values, row_splits]):
            values = converted(values)
            splits = rows.as_partition(row_splits, _splits_dtype(values), "row_splits")
            if splits.shape.rank == 1 and splits.shape[0].value == 0:
                raise ValueError("row_splits tensor may not be empty.")
            return of_rows(values, rows.checked_splits(splits, _count(values, splits.dtype)) if validate else splits)

    @classmethod
    def from_row_lengths(cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True) -> RaggedTensor:
        with name_scope(name, "RaggedFromRowLengths", [values, row_lengths]):
            values = converted(values)
            lengths = rows.as_partition(row_lengths, _splits_dtype(values), "row_lengths")
            splits = array_join.concat([[0], cumulative.cumsum(lengths)], 0)
            return of_rows(values, rows.checked_splits(splits, _count(values, splits.dtype)) if validate else splits)

    @classmethod
    def from_value_rowids(
        cls, values: Any, value_rowids: Any, nrows: Any = None, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        with name_scope(name, "RaggedFromValueRowIds", [values, value_rowids, nrows]):
            values = converted(values)
            ids = rows.as_partition(value_rowids, _splits_dtype(values), "value_rowids")
            values.shape[:1].assert_is_compatible_with(ids.shape)
            splits = rows.splits_of_ids(ids, nrows)
            return of_rows(values, rows.checked_splits(splits, _count(values, splits.dtype)) if validate else splits)

    @classmethod
    def from_row_starts(cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True) -> RaggedTensor:
        with name_scope(name, "RaggedFromRowStarts", [values, row_starts]):
            values = converted(values)
            starts = rows.as_partition(row_starts, _splits_dtype(values), "row_starts")
            splits = array_join.concat([starts, array.expand_dims(_count(values, starts.dtype), 0)], 0)
            return of_rows(values, rows.checked_splits(splits, _count(values, splits.dtype)) if validate else splits)

    @classmethod
    def from_row_limits(cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True) -> RaggedTensor:
        with name_scope(name, "RaggedFromRowLimits", [values, row_limits]):
            values = converted(values)
            limits = rows.as_partition(row_limits, _splits_dtype(values), "row_limits")
            splits = array_join.concat([[0], limits], 0)
            return of_rows(values, rows.checked_splits(splits, _count(values, splits.dtype)) if validate else splits)

    @classmethod
    def from_nested_row_splits(
        cls, flat_values: Any, nested_row_splits: Sequence[Any], name: str | None = None, validate: bool = True
    ) -> Any:
        return rows.nested(
            cls.from_row_splits,
            flat_values,
            nested_row_splits,
            "nested_row_splits",
            name or "RaggedFromNestedRowSplits",
            validate,
        )

    @classmethod
    def from_nested_row_lengths(
        cls, flat_values: Any, nested_row_lengths: Sequence[Any], name: str | None = None, validate: bool = True
    ) -> Any:
        return rows.nested(
            cls.from_row_lengths,
            flat_values,
            nested_row_lengths,
            "nested_row_lengths",
            name or "RaggedFromNestedRowlengths",
            validate,
        )

    @classmethod
    def from_nested_value_rowids(
        cls,
        flat_values: Any,
        nested_value_rowids: Sequence[Any],
        nested_nrows: Sequence[Any] | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        counts = [None] * len(nested_value_rowids) if nested_nrows is None else list(nested_nrows)
        if len(counts) != len(nested_value_rowids):
            raise ValueError("nested_nrows must have the same length as nested_value_rowids")
        with name_scope(name, "RaggedFromNestedValueRowIds", [flat_values, *nested_value_rowids]):
            result = flat_values
            for ids, count in zip(reversed(nested_value_rowids), reversed(counts), strict=True):
                result = cls.from_value_rowids(result, ids, count, validate=validate)
            return result

    @classmethod
    def from_tensor(
        cls,
        tensor: Any,
        lengths: Any = None,
        padding: Any = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: Any = dtypes.int64,
    ) -> RaggedTensor:
        """The rows of `tensor`: of these lengths, or without the `padding` at their ends, or whole."""
        from tfexp.ragged_tensors.dense import from_tensor

        return from_tensor(tensor, lengths, padding, ragged_rank, name, row_splits_dtype)

    @classmethod
    def from_sparse(cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = dtypes.int64) -> RaggedTensor:
        """The rows of a SparseTensor of two dimensions whose values fill every row from its beginning."""
        from tfexp.ragged_tensors.dense import from_sparse

        return from_sparse(st_input, name, row_splits_dtype)

    # --- what it is ---------------------------------------------------------------------------------------------------

    @property
    def values(self) -> Any:
        return self._values

    @property
    def row_splits(self) -> Tensor:
        return self._row_splits

    @property
    def flat_values(self) -> Tensor:
        """The innermost values, of which all rows consist."""
        found: Tensor = self._values.flat_values if isinstance(self._values, RaggedTensor) else self._values
        return found

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The row splits of all ragged dimensions, the outermost first."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ()
        return (self._row_splits, *inner)

    @property
    def ragged_rank(self) -> int:
        """How many dimensions, after the first, are ragged."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> DType:
        return self.flat_values.dtype

    @property
    def graph(self) -> Graph:
        return self.flat_values.graph

    @property
    def op(self) -> Operation:
        return self.flat_values.op

    @property
    def shape(self) -> TensorShape:
        """Ragged dimensions are unknown."""
        inner, count = self._values.shape, self._row_splits.shape[0].value
        if inner.rank is None:
            return TensorShape(None)
        return TensorShape([None if count is None else count - 1, None, *inner.as_list()[1:]])

    def get_shape(self) -> TensorShape:
        return self.shape

    def nrows(self, out_type: Any = None, name: str | None = None) -> Tensor:
        with name_scope(name, "RaggedNRows", [self]):
            kind = dtypes.as_dtype(out_type or self._row_splits.dtype)
            return array.shape(self._row_splits, out_type=kind)[0] - 1  # type: ignore[no-any-return,index]

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """The lengths of the rows; of those along an inner ragged `axis`, ragged themselves."""
        axis = rows.axis_of(axis, self.shape.rank)
        if axis == 0:
            return self.nrows(name=name)
        with name_scope(name, "RaggedRowLengths", [self]):
            if axis > 1:
                if not isinstance(self._values, RaggedTensor):
                    inner: Any = array.shape(self._values, out_type=self._row_splits.dtype)
                    return self.with_values(array_fill.fill(inner[:1], inner[axis - 1]))
                return self.with_values(self._values.row_lengths(axis - 1))
            splits: Any = self._row_splits
            return splits[1:] - splits[:-1]

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        with name_scope(name, "RaggedNestedRowLengths", [self]):
            return tuple(splits[1:] - splits[:-1] for splits in self.nested_row_splits)  # type: ignore[index,operator]

    def row_starts(self, name: str | None = None) -> Tensor:
        with name_scope(name, "RaggedRowStarts", [self]):
            return self._row_splits[:-1]  # type: ignore[index,no-any-return]

    def row_limits(self, name: str | None = None) -> Tensor:
        with name_scope(name, "RaggedRowLimits", [self]):
            return self._row_splits[1:]  # type: ignore[index,no-any-return]

    def value_rowids(self, name: str | None = None) -> Tensor:
        """For each of `values`, the number of its row."""
        with name_scope(name, "RaggedValueRowIds", [self]):
            return rows.row_splits_to_segment_ids(self._row_splits)

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        with name_scope(name, "RaggedNestedValueRowIds", [self]):
            return tuple(map(rows.row_splits_to_segment_ids, self.nested_row_splits))

    def bounding_shape(self, axis: Any = None, name: str | None = None, out_type: Any = None) -> Tensor:
        """The shape of the smallest tensor that all rows fit in; its elements at `axis` alone, if given."""
        with name_scope(name, "RaggedBoundingBox", [self]):
            kind = dtypes.as_dtype(out_type or self._row_splits.dtype)
            lengths = [reduce.reduce_max(array_join.concat([[0], found], 0)) for found in self.nested_row_lengths()]
            outer = cast(array_join.stack([cast(self.nrows(), kind), *(cast(n, kind) for n in lengths)]), kind)
            inner: Any = array.shape(self.flat_values, out_type=kind)
            whole: Any = array_join.concat([outer, inner[1:]], 0)
            if axis is None:
                return whole  # type: ignore[no-any-return]
            from tfexp.ops.array_gather import gather

            return gather(whole, axis)

    # --- other ones like it -------------------------------------------------------------------------------------------

    def with_values(self, new_values: Any) -> RaggedTensor:
        """The same rows of other values, as many as before."""
        new_values = converted(new_values)
        new_values.shape.with_rank_at_least(1)
        if self._values.shape.rank is not None and new_values.shape.rank is not None:
            self._values.shape[:1].assert_is_compatible_with(new_values.shape[:1])
        return of_rows(new_values, self._row_splits)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """The same rows of rows of other innermost values."""
        inner = self._values
        return self.with_values(inner.with_flat_values(new_values) if isinstance(inner, RaggedTensor) else new_values)

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """The same with int32 or int64 row splits."""
        kind = dtypes.as_dtype(dtype)
        if kind not in (dtypes.int32, dtypes.int64):
            raise ValueError("dtype must be int32 or int64")
        if kind == self._row_splits.dtype:
            return self
        inner = self._values.with_row_splits_dtype(kind) if isinstance(self._values, RaggedTensor) else self._values
        return of_rows(inner, cast(self._row_splits, kind))

    def to_tensor(self, default_value: Any = None, name: str | None = None) -> Tensor:
        """A tensor of the bounding shape, with `default_value` (0, "") where rows are shorter."""
        from tfexp.ragged_tensors.dense import to_tensor

        return to_tensor(self, default_value, name)

    def to_sparse(self, name: str | None = None) -> Any:
        from tfexp.ragged_tensors.dense import to_sparse

        return to_sparse(self, name)

    def consumers(self) -> list[Operation]:
        found = [*self._values.consumers(), *self._row_splits.consumers()]
        return list(dict.fromkeys(found))

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """The RaggedTensorValue of one run in `session` (None: the default one)."""
        return self.graph._session_for(session, "evaluate tensor", "eval").run(self, feed_dict)

    def to_list(self) -> list[Any]:
        """Nested lists, where ops run at once. ValueError in a graph."""
        if not self._has_values:
            raise ValueError("RaggedTensor.to_list() is only supported in eager mode.")
        nested: list[Any] = self.fetched([part.numpy() for part in self.parts]).to_list()  # type: ignore[attr-defined]
        return nested

    @property
    def _has_values(self) -> bool:
        """Whether its ops ran at once."""
        return all(hasattr(part, "numpy") for part in self.parts)

    def __getitem__(self, key: Any) -> Any:
        from tfexp.ragged_tensors.indexing import item

        return item(self, key)

    def __iter__(self) -> Iterator[Any]:
        """The rows, where ops run at once. TypeError in a graph."""
        if not self._has_values:
            raise TypeError("RaggedTensor is not iterable in a graph.")
        return (self[row] for row in range(self.nrows().numpy()))  # type: ignore[attr-defined]

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __repr__(self) -> str:
        if self._has_values:
            return f"<tf.RaggedTensor {self.to_list()}>"
        return f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})"

    # --- as a value made of several -----------------------------------------------------------------------------------

    @property
    def nested_parts(self) -> list[Tensor]:
        return [self.flat_values, *self.nested_row_splits]

    def with_nested_parts(self, components: Sequence[Tensor]) -> Any:
        result: Any = components[0]
        for splits in reversed(components[1:]):
            result = of_rows(result, splits)
        return result

    def loop_shapes(self, invariant: Any) -> Sequence[TensorShape]:
        shape = self.shape if invariant is None else as_shape(invariant)
        rows = shape[0].value if shape.rank else None
        inner = TensorShape([None]).concatenate(shape[self.ragged_rank + 1 :])
        return [inner, TensorShape([None if rows is None else rows + 1]), *[TensorShape([None])] * (self.ragged_rank - 1)]

    @property
    def _type_spec(self) -> RaggedTensorSpec:
        return RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank, self._row_splits.dtype)

    def fetched(self, values: Sequence[Any]) -> RaggedTensorValue:
        result = values[0]
        for splits in reversed(values[1:]):
            result = RaggedTensorValue(result, splits)
        return result

    def fed(self, value: Any) -> Sequence[Any]:
        if not isinstance(value, RaggedTensorValue) or value.ragged_rank != self.ragged_rank:
            raise TypeError(f"{self!r} is fed with a RaggedTensorValue of ragged_rank {self.ragged_rank}, not {value!r}")
        return value.flat_values, *value.nested_row_splits

    def dispatch(self, name: str, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        from tfexp.ragged_tensors.functions import BINARY, ELEMENTWISE, FUNCTIONS

        if name in FUNCTIONS:
            module, _, found = FUNCTIONS[name].partition(":")
            return getattr(importlib.import_module(f"tfexp.ragged_tensors.{module}"), found)(*args, **kwargs)
        from tfexp.ragged_tensors.elementwise import broadcast, map_flat_values

        if name in ELEMENTWISE:
            return map_flat_values(function, *args, **kwargs)
        if name in BINARY:
            return broadcast(function, *args, **kwargs)
        return NotImplemented


class RaggedTensorSpec(BatchableTypeSpec):
    """A ragged tensor of that shape, dtype and number of ragged dimensions. `tf.RaggedTensorSpec`."""

    value_type = RaggedTensor
    # Under the names that programs know.
    _shape = property(lambda self: self.shape)
    _dtype = property(lambda self: self.dtype)

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        ragged_rank: int | None = None,
        row_splits_dtype: Any = dtypes.int64,
    ):
        self.shape = as_shape(shape)
        self.dtype = dtypes.as_dtype(dtype)
        rank = self.shape.rank
        if ragged_rank is None and rank is None:
            raise ValueError("Must specify ragged_rank or a shape with a known rank.")
        self.ragged_rank = int(rank or 0) - 1 if ragged_rank is None else ragged_rank
        if rank is not None and self.ragged_rank >= rank:
            raise ValueError("ragged_rank must be less than rank.")
        self.row_splits_dtype = dtypes.as_dtype(row_splits_dtype)

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """The spec of a RaggedTensor, or of a RaggedTensorValue."""
        if isinstance(value, RaggedTensorValue):
            return cls(value.shape, value.flat_values.dtype, value.ragged_rank, value.row_splits.dtype)
        return cls(value.shape, value.dtype, value.ragged_rank, value.row_splits.dtype)

    @property
    def _component_specs(self) -> list[TensorSpec]:
        """Of the flat values, and of the row splits from the outermost inward."""
        sizes = self.shape[: self.ragged_rank].as_list() if self.shape.rank is not None else [None] * self.ragged_rank
        counts = [None if size is None else size + 1 for size in sizes[:1]] + [None] * len(sizes[1:])
        splits = [TensorSpec([count], self.row_splits_dtype) for count in counts]
        return [TensorSpec(TensorShape([None]).concatenate(self.shape[self.ragged_rank + 1 :]), self.dtype), *splits]

    # A variant holds one in functions and data sets.
    _flat_tensor_specs = property(lambda self: [TensorSpec(None, dtypes.variant)])

    def _serialize(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.ragged_rank, self.row_splits_dtype

    def _to_components(self, value: Any) -> list[Any]:
        return [value.flat_values, *value.nested_row_splits] if self.ragged_rank else [value]

    def _from_components(self, components: Sequence[Any]) -> Any:
        """A RaggedTensor; of arrays, a RaggedTensorValue; without ragged dimensions, what there is."""
        result: Any = components[0]
        kind = RaggedTensorValue if all(isinstance(part, np.ndarray) for part in components) else of_rows
        for splits in reversed(components[1:]):
            result = kind(result, splits)
        return result

    def _batch(self, batch_size: int | None) -> RaggedTensorSpec:
        return RaggedTensorSpec(batched(self.shape, batch_size), self.dtype, self.ragged_rank + 1, self.row_splits_dtype)

    def _unbatch(self) -> RaggedTensorSpec:
        return RaggedTensorSpec(unbatched(self.shape), self.dtype, self.ragged_rank - 1, self.row_splits_dtype)


register_type_spec_from_value_converter(RaggedTensorValue, RaggedTensorSpec.from_value)


def of_rows(values: Any, row_splits: Tensor) -> RaggedTensor:
    """The rows of `values` (a Tensor or RaggedTensor) between these splits, which are not checked."""
    return RaggedTensor(values, row_splits, internal=True)


def converted(value: Any, dtype: Any = None) -> Any:
    """A RaggedTensor as it is, or of a RaggedTensorValue; anything else as a tensor.

    ValueError for a RaggedTensor of another `dtype`; arrays are converted.
    """
    if isinstance(value, RaggedTensor):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for RaggedTensor with dtype "
                f"{value.dtype.name}: {value!r}"
            )
        return value
    if isinstance(value, RaggedTensorValue):
        return of_rows(converted(value.values, dtype), convert_to_tensor(value.row_splits, name="row_splits"))
    return convert_to_tensor(value, dtype, name="values")


def _splits_dtype(values: Any) -> DType | None:
    """The type that the row splits around `values` must have."""
    return values.row_splits.dtype if isinstance(values, RaggedTensor) else None


def _count(values: Any, dtype: Any) -> Tensor:
    """How many values there are."""
    if isinstance(values, RaggedTensor):
        return values.nrows(dtype)
    return array.shape(values, out_type=dtype)[0]  # type: ignore[index,no-any-return]
