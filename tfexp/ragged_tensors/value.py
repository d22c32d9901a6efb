"""What a run gives for a RaggedTensor, and takes for one: `tf.compat.v1.ragged.RaggedTensorValue`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tfexp.core.dispatch import dispatching_among
from tfexp.core.nest import Dispatching


class RaggedTensorValue(Dispatching):
    """Row i is values[row_splits[i]:row_splits[i + 1]]; `values` is an array, or again a RaggedTensorValue."""

    def __init__(self, values: Any, row_splits: Any):
        if not (isinstance(row_splits, np.ndarray) and row_splits.dtype in (np.int64, np.int32) and row_splits.ndim == 1):
            raise TypeError(f"row_splits must be a 1D int32 or int64 numpy array, got {row_splits!r}")
        if not isinstance(values, (np.ndarray, np.generic, RaggedTensorValue)):
            raise TypeError(f"values must be a Numpy array or RaggedTensorValue, got {values!r}")
        self._values, self._row_splits = values, row_splits

    @property
    def values(self) -> Any:
        return self._values

    @property
    def row_splits(self) -> np.ndarray:
        return self._row_splits

    @property
    def flat_values(self) -> np.ndarray:
        """The innermost values."""
        return self._values.flat_values if isinstance(self._values, RaggedTensorValue) else np.asarray(self._values)

    @property
    def nested_row_splits(self) -> tuple[np.ndarray, ...]:
        """The row splits of all ragged dimensions, the outermost first."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensorValue) else ()
        return (self._row_splits, *inner)

    @property
    def ragged_rank(self) -> int:
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> np.dtype:
        return self.flat_values.dtype

    @property
    def shape(self) -> tuple[int | None, ...]:
        inner: tuple[int | None, ...] = tuple(self._values.shape)[1:]
        return (len(self._row_splits) - 1, None, *inner)

    def dispatch(self, name: str, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What `function` gives of the ragged tensor of these arrays."""
        from tfexp.ragged_tensors.tensor import converted

        def given(value: Any) -> Any:
            if isinstance(value, (list, tuple)):
                return [given(element) for element in value]
            return converted(value) if isinstance(value, RaggedTensorValue) else value

        args, kwargs = [given(value) for value in args], {key: given(value) for key, value in kwargs.items()}
        ragged = dispatching_among([*args, *kwargs.values()])
        return NotImplemented if ragged is None else ragged.dispatch(name, function, args, kwargs)

    def to_list(self) -> list[Any]:
        """Nested lists."""
        rows = self._values.to_list() if isinstance(self._values, RaggedTensorValue) else self._values.tolist()
        splits = self._row_splits.tolist()
        return [rows[begin:end] for begin, end in itertools.pairwise(splits)]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RaggedTensorValue) or self.ragged_rank != other.ragged_rank:
            return False
        pairs = zip(self.nested_row_splits, other.nested_row_splits, strict=True)
        return np.array_equal(self.flat_values, other.flat_values) and all(np.array_equal(a, b) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._row_splits!r})"
