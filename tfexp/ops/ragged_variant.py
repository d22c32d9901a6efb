"""Ragged tensors as variants, to be stored and batched as dense ones: RaggedTensorToVariant, RaggedTensorFromVariant.

A variant holds a `Rows`, which never changes. Source: TF 1.15.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape

Array = np.ndarray

ragged_tensor_to_variant = define_op(
    "RaggedTensorToVariant(rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: Tvalues) -> (encoded_ragged: variant) "
    "{RAGGED_RANK: int >= 0; Tvalues: type; Tsplits: type in [int32,int64] = int64; batched_input: bool}"
).not_differentiable()
ragged_tensor_from_variant = define_op(
    "RaggedTensorFromVariant(encoded_ragged: variant) -> (output_nested_splits: output_ragged_rank * Tsplits, "
    "output_dense_values: Tvalues) {input_ragged_rank: int >= -1; output_ragged_rank: int >= 0; Tvalues: type; "
    "Tsplits: type in [int32,int64] = int64}"
)


@dataclass(frozen=True, eq=False)
class Rows:
    """A ragged tensor: the row splits of its dimensions, the outermost first, and its values. Without splits: a tensor."""

    splits: tuple[Array, ...]
    values: Array
    # What a scalar that holds one says of itself.
    dtype: ClassVar[np.dtype] = np.dtype(object)
    shape: ClassVar[tuple[int, ...]] = ()


@ragged_tensor_to_variant.shape
def _(splits: Sequence[InputShape], values: InputShape, *, batched_input: bool, **_: Any) -> TensorShape:
    if not batched_input:
        return TensorShape([])
    outermost = splits[0].dims[0] if splits and splits[0].rank == 1 else None  # type: ignore[index]
    return TensorShape([None if outermost is None else outermost - 1])


@ragged_tensor_to_variant.kernel("CPU")
def _(ctx: Any, splits: Sequence[Array], values: Array, *, batched_input: bool, **_: Any) -> Array:
    # The arrays are the step's; what is stored has to be its own.
    whole = Rows(tuple(np.array(s) for s in splits), np.array(values))
    if not batched_input:
        return np.array(whole, object)
    return np.array(_rows(whole), object)


def _rows(whole: Rows) -> list[Rows]:
    """The slices along the first dimension: each a `Rows` of one dimension less."""
    if not whole.splits:
        return [Rows((), value) for value in whole.values]
    bounds = [whole.splits[0]]
    for splits in whole.splits[1:]:
        bounds.append(splits[bounds[-1]])  # where each outermost row begins in the next dimension
    below = list(zip(whole.splits[1:], bounds, strict=False))
    return [
        Rows(
            tuple(splits[b[i] : b[i + 1] + 1] - splits[b[i]] for splits, b in below),
            whole.values[bounds[-1][i] : bounds[-1][i + 1]],
        )
        for i in range(len(bounds[0]) - 1)
    ]


@ragged_tensor_from_variant.shape
def _(encoded: InputShape, *, output_ragged_rank: int, **_: Any) -> list[TensorShape]:
    return [*[TensorShape([None])] * output_ragged_rank, TensorShape(None)]


@ragged_tensor_from_variant.kernel("CPU")
def _(
    ctx: Any, encoded: Array, *, input_ragged_rank: int, output_ragged_rank: int, Tvalues: DType, Tsplits: DType
) -> list[Any]:
    encoded = np.asarray(encoded, object)
    rank = output_ragged_rank - encoded.ndim if input_ragged_rank == -1 else input_ragged_rank
    if output_ragged_rank != rank + encoded.ndim:
        raise _refuse(
            f"output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(); output_ragged_rank: "
            f"{output_ragged_rank}, input_ragged_rank: {rank}, encoded_ragged.dims(): {encoded.ndim}"
        )
    parts = list(encoded.reshape(-1))
    for one in parts:
        _check(one, rank, Tvalues, Tsplits)
    if not encoded.ndim:
        return [*parts[0].splits, parts[0].values]
    kind = Tsplits.as_numpy_dtype
    outer = [
        np.arange(int(np.prod(encoded.shape[:i])) + 1, dtype=kind) * kind(encoded.shape[i]) for i in range(1, encoded.ndim)
    ]
    lengths = [(one.splits[0].size - 1 if one.splits else len(one.values)) for one in parts]
    inner = [_joined([[0], *[np.diff(one.splits[i]) for one in parts]], kind).cumsum(dtype=kind) for i in range(rank)]
    values = np.concatenate([one.values for one in parts]) if parts else np.empty(0, Tvalues.as_numpy_dtype)
    return [*outer, np.cumsum([0, *lengths], dtype=kind), *inner, values]


def _joined(arrays: Sequence[Any], kind: Any) -> Array:
    return np.concatenate([np.asarray(array, kind) for array in arrays])


def _check(stored: Any, rank: int, values: DType, splits: DType) -> None:
    if not isinstance(stored, Rows) or len(stored.splits) != rank:
        found = len(stored.splits) if isinstance(stored, Rows) else type(stored).__name__
        raise _refuse(f"Expected a variant of a ragged tensor of ragged_rank {rank}, found {found}")
    if stored.values.dtype != values.as_numpy_dtype:
        raise _refuse(f"Expected values of type {values.name} in the variant, found {stored.values.dtype}")
    if any(one.dtype != splits.as_numpy_dtype for one in stored.splits):
        raise _refuse(f"Expected row_splits of type {splits.name} in the variant, found {stored.splits[0].dtype}")


def _refuse(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, text)
