"""`ragged[key]`: a row, rows, and slices of rows. Source: `tf.RaggedTensor.__getitem__`, TF 1.15."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array_fill
from tfexp.ops.array_mask import where_v2
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import maximum, minimum
from tfexp.ragged_tensors.arrays import gather, rows_between
from tfexp.ragged_tensors.arrays import range as arange
from tfexp.ragged_tensors.tensor import RaggedTensor, of_rows


def item(ragged: RaggedTensor, key: Any) -> Any:
    """ValueError for a number where rows have different lengths, and for keys that have no meaning here."""
    with name_scope(None, "RaggedGetItem", [ragged]):
        keys = list(key) if isinstance(key, (list, tuple)) else [key]
        if keys.count(Ellipsis) > 1:
            raise ValueError("Only one ellipsis is allowed.")
        if Ellipsis in keys:
            at = keys.index(Ellipsis)
            if ragged.shape.rank is None:
                raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
            missing = ragged.shape.rank - sum(k is not None for k in keys) + 1
            keys[at : at + 1] = [slice(None)] * missing
        return _item(ragged, keys)


def _item(ragged: Any, keys: list[Any]) -> Any:
    if not keys:
        return ragged
    if not isinstance(ragged, RaggedTensor):
        return ragged[tuple(keys)]
    first, rest = keys[0], keys[1:]
    if first is None:
        from tfexp.ragged_tensors.arrays import expand_dims

        return expand_dims(_item(ragged, rest), 0)
    if isinstance(first, slice):
        return _inner(_outer_slice(ragged, first), rest)
    starts: Any = ragged.row_starts()
    limits: Any = ragged.row_limits()
    return _item(ragged.values[starts[first] : limits[first]], rest)


def _outer_slice(ragged: RaggedTensor, key: slice) -> RaggedTensor:
    if key.start is None and key.stop is None and key.step is None:
        return ragged
    starts: Any = ragged.row_starts()
    limits: Any = ragged.row_limits()
    return rows_between(ragged.values, starts[key], limits[key])


def _inner(ragged: RaggedTensor, keys: list[Any]) -> Any:
    """`keys` for the dimensions inside of the rows."""
    if not keys:
        return ragged
    first, rest = keys[0], keys[1:]
    if first is None:
        from tfexp.ragged_tensors.arrays import expand_dims

        return expand_dims(_inner(ragged, rest), 1)
    if not isinstance(first, slice):
        raise ValueError("Cannot index into an inner ragged dimension.")
    if not (first.start is None and first.stop is None and first.step is None):
        ragged = _inner_slice(ragged, first)
    if not rest:
        return ragged
    if isinstance(ragged.values, RaggedTensor):
        return ragged.with_values(_inner(ragged.values, rest))
    return ragged.with_values(ragged.values[(slice(None), *rest)])


def _inner_slice(ragged: RaggedTensor, key: slice) -> RaggedTensor:
    """The slice of each row, with Python's meaning of places that are negative or outside."""
    _check_integers("offsets", key.start, key.stop)
    _check_integers("strides", key.step)
    kind, lengths = ragged.row_splits.dtype, ragged.row_lengths()
    starts: Any = ragged.row_starts()
    step: Any = 1 if key.step is None else key.step
    first: Any
    last: Any
    from_: Any
    to: Any
    if isinstance(step, Tensor):
        step = cast(step, kind)
        forwards = step > 0
        zero = array_fill.zeros_like(lengths)
        first, last = (where_v2(forwards, *ends) for ends in ((zero, zero - 1), (lengths, lengths - 1)))  # type: ignore[operator]
        from_, to = (where_v2(forwards, *ends) for ends in ((first, last), (last, first)))
    elif step == 0:
        raise ValueError("slice step cannot be zero")
    else:
        first, last = (0, lengths) if step > 0 else (-1, lengths - 1)
        from_, to = (0, lengths) if step > 0 else (last, first)
    begin = cast(from_, kind) if key.start is None else _clipped(key.start, lengths, first, last)
    end = cast(to, kind) if key.stop is None else _clipped(key.stop, lengths, first, last)
    if not isinstance(step, Tensor) and step == 1:
        return rows_between(ragged.values, starts + begin, starts + maximum(begin, end))
    places = arange(starts + begin, starts + end, cast(step, kind), row_splits_dtype=kind)
    return of_rows(gather(ragged.values, places.values), places.row_splits)


def _check_integers(what: str, *numbers: Any) -> None:
    for number in numbers:
        is_integer = number.dtype.is_integer if isinstance(number, Tensor) else isinstance(number, Integral)
        if number is not None and not is_integer:
            raise TypeError(f"slice {what} must be integers or None")


def _clipped(place: Any, lengths: Any, first: Any, last: Any) -> Any:
    """A place in rows of these lengths, counted from their ends if it is negative."""
    place = array_fill.zeros_like(lengths) + cast(place, lengths.dtype)  # type: ignore[operator]
    counted = where_v2(place < 0, place + lengths, place)
    return minimum(maximum(counted, cast(first, lengths.dtype)), last)
