"""Updates of some rows (`Scatter…`) or elements and slices (`ScatterNd…`) of a variable, in place.

An index that is out of range is an InvalidArgumentError that names it, and then nothing has been updated. Where an index
comes more than once, the updates are applied one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.kernel import Ref
from tfexp.core.merged_shape import merged, shape_text
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.core.workers import scratch
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.ops.array import expand_dims, reshape, shape
from tfexp.ops.array_fill import ones_like
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_join import concat
from tfexp.ops.index_range import are_within
from tfexp.ops.resource_state import variable_op
from tfexp.ops.shape_rules import with_rank, with_rank_at_least
from tfexp.ops.state import NUMBERS, buffer_of, is_reference

Update = Callable[[np.ndarray, Any, Any], None]


# --- how the rows change: update(buffer, index, updates) --------------------------------------------------------------


def _replace(buffer: np.ndarray, index: Any, updates: Any) -> None:
    buffer[index] = updates


def _apply(ufunc: Any) -> Update:
    """`buffer[index] = ufunc(buffer[index], updates)`, repeated indices in turn."""

    def update(buffer: np.ndarray, index: Any, updates: Any) -> None:
        if len(index) == 1 and buffer.ndim > 1:
            flat = index[0].reshape(-1)
            rows = (flat.size, *buffer.shape[1:])
            _update_rows(ufunc, buffer, flat, updates.reshape(rows) if updates.ndim else np.broadcast_to(updates, rows))
        elif len(index) == 1 or _has_duplicates(index):  # in one dimension, `.at` is the quickest of all
            ufunc.at(buffer, index, updates)
        else:  # several times as fast, and the same numbers
            buffer[index] = ufunc(buffer[index], updates)

    return update


_MAX_REPEATED = 8  # when an index comes more often, `.at` is quicker


def _update_rows(ufunc: Any, buffer: np.ndarray, index: np.ndarray, rows: np.ndarray) -> None:
    """`buffer[index[i]] = ufunc(buffer[index[i]], rows[i])` for one i after the other."""
    chains = _chains(index)
    if chains is None:
        ufunc.at(buffer, index, rows)
        return
    new = scratch("scatter", rows.shape, buffer.dtype)
    buffer.take(index, 0, new, "clip")  # they are in range: to see to it again would take a copy
    ufunc(new, rows, out=new)
    for before, after in chains:
        new[after] = ufunc(new[before], rows[after])
    buffer[index] = new
    for _, after in chains:  # which of equal indices is assigned last is not NumPy's promise
        buffer[index[after]] = new[after]


def _chains(index: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]] | None:
    """(places where an index comes for the nth time, the next places of each) for n = 1, 2, …; None for too many."""
    # With its place behind it, each is a number of its own: sorting those takes less than finding an order of the indices.
    bits = len(index).bit_length()
    both = np.left_shift(index, bits, dtype=np.int64)
    both |= np.arange(len(index))
    both.sort()
    ordered = both >> bits
    again = (ordered[1:] == ordered[:-1]).nonzero()[0] + 1
    if not again.size:
        return []
    order = both & (1 << bits) - 1
    if (again[1:] - again[:-1] > 1).all():  # none comes for the third time
        return [(order[again - 1], order[again])]
    # The first of each run of repeats comes for the second time.
    starts = np.flatnonzero(np.diff(again, prepend=-1) != 1)
    number = np.arange(len(again)) - np.repeat(starts, np.diff(starts, append=len(again)))
    most = int(number.max()) + 1
    if most >= _MAX_REPEATED:
        return None
    rounds = (again[number == n] for n in range(most))
    return [(order[places - 1], order[places]) for places in rounds]


def _has_duplicates(index: tuple[np.ndarray, ...]) -> bool:
    places = np.stack([i.ravel() for i in index], axis=1)
    return len(np.unique(places, axis=0)) < len(places)


def _divide(buffer: np.ndarray, index: Any, updates: Any) -> None:
    if buffer.dtype.kind not in "iu":
        _DIVIDE(buffer, index, updates)
        return
    # Integers are divided as C does: the quotient is cut towards zero.
    if np.any(np.asarray(updates) == 0):
        raise InvalidArgumentError(None, None, "Integer division by zero in scatter_div")
    shape = buffer[index].shape
    updates = np.broadcast_to(updates, shape)
    rows = index[0].ndim
    for position in np.ndindex(shape[:rows]):
        place = tuple(i[position] for i in index)
        dividend, divisor = buffer[place], updates[position]
        quotient = np.abs(dividend) // np.abs(divisor)
        buffer[place] = np.where((dividend < 0) != (divisor < 0), -quotient, quotient)


_DIVIDE = _apply(np.divide)


# --- rows: ref[indices, ...] -------------------------------------------------------------------------------------------


def _row_shape(ref: TensorShape, indices: TensorShape, updates: TensorShape) -> TensorShape:
    """`updates` is a scalar, or has one row for each index."""
    with_rank_at_least(ref, 1)
    if updates.rank != 0 and ref.rank is not None:
        merged(updates, indices.concatenate(ref[1:]))
    return ref


def _check_rows(ref: Ref, buffer: np.ndarray, indices: np.ndarray, updates: Any) -> None:
    shape = np.shape(updates)
    if shape != () and shape != indices.shape + buffer.shape[1:]:
        raise InvalidArgumentError(
            None,
            None,
            "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got updates.shape "
            f"{dims_text(shape)}, indices.shape {dims_text(indices.shape)}, params.shape {dims_text(buffer.shape)} "
            f"(variable {ref.name})",
        )
    if not are_within(indices, buffer.shape[0]):
        where = np.argwhere((indices < 0) | (indices >= buffer.shape[0]))[0]
        place = dims_text(where) if where.size else ""
        raise InvalidArgumentError(
            None, None, f"indices{place} = {indices[tuple(where)]} is not in [0, {buffer.shape[0]}) (variable {ref.name})"
        )


class Forms(NamedTuple):
    """An update of references, and the same of variables' handles."""

    of_reference: Op
    of_handle: Op


# `stops_gradients=False`: TensorFlow has nothing registered for the op, so that differentiating through it is an error.
def _define_rows(
    name: str, types: str | None, use_locking: str, change: Update | np.ufunc, stops_gradients: bool = True
) -> Forms:
    """`change`: what does it, or a ufunc of the rows as they are and the updates."""
    update = _apply(change) if isinstance(change, np.ufunc) else change
    t = f"type in [{types}]" if types else "type"
    op = define_op(
        f"{name}(ref: ref T, indices: Tindices, updates: T) -> (output_ref: ref T) "
        f"{{T: {t}; Tindices: type in [int32,int64]; use_locking: bool = {use_locking}}}"
    )
    op.shape(_row_shape)
    of_handle = variable_op(
        f"Resource{name}(resource: resource, indices: Tindices, updates: dtype) -> () "
        f"{{dtype: {t}; Tindices: type in [int32,int64]}} #stateful"
    )

    def update_rows(ref: Ref, indices: Any, updates: Any) -> Ref:
        buffer = buffer_of(ref)
        indices = np.asarray(indices)
        if buffer.ndim == 0:
            raise InvalidArgumentError(None, None, f"params must be at least 1-D, got a scalar (variable {ref.name})")
        _check_rows(ref, buffer, indices, updates)
        if indices.size:
            with ref.updating:
                update(buffer, (indices,), _own(np.asarray(updates), buffer))
        return ref

    if isinstance(change, np.ufunc):
        for form in (op, of_handle):
            form.kernel("ROWS")(lambda ctx, ref, indices, updates: change(ref.value, updates, out=ref.value))
    return _finish(Forms(op, of_handle), update_rows, _row_shape, stops_gradients)


def _finish(forms: Forms, update: Callable[..., Ref], shape: Callable[..., TensorShape], stops_gradients: bool) -> Forms:
    """Attach the kernel and the shape rule of both forms."""
    op, of_handle = forms
    op.kernel("CPU")(lambda ctx, *inputs: update(*inputs))

    @of_handle.kernel("CPU")
    def _(ctx: Any, *inputs: Any) -> None:
        update(*inputs)

    @of_handle.shape
    def _(resource: InputShape, indices: TensorShape, updates: TensorShape) -> None:
        with_rank(resource, 0)
        shape(resource.of_handle, indices, updates)

    if stops_gradients:
        op.not_differentiable()
    return forms


def _own(updates: Any, buffer: np.ndarray) -> Any:
    """`updates`, copied when they are read from the very variable that is about to change."""
    return updates.copy() if np.may_share_memory(updates, buffer) else updates


_ORDERED = "half,bfloat16,float,double,int32,int64"

scatter_update_op = _define_rows("ScatterUpdate", None, "true", _replace, stops_gradients=False)
scatter_add_op = _define_rows("ScatterAdd", NUMBERS, "false", np.add)
scatter_sub_op = _define_rows("ScatterSub", NUMBERS, "false", np.subtract)
scatter_mul_op = _define_rows("ScatterMul", NUMBERS, "false", np.multiply)
scatter_div_op = _define_rows("ScatterDiv", NUMBERS, "false", _divide)
scatter_min_op = _define_rows("ScatterMin", _ORDERED, "false", np.minimum, stops_gradients=False)
scatter_max_op = _define_rows("ScatterMax", _ORDERED, "false", np.maximum, stops_gradients=False)


# --- elements and slices: ref[indices[..., 0], indices[..., 1], …] ------------------------------------------------------


def _nd_shape(ref: TensorShape, indices: TensorShape, updates: TensorShape) -> TensorShape:
    """`updates` has a slice `ref[index]` for each of the indices, which are the rows of `indices`' last dimension."""
    with_rank_at_least(indices, 1)
    if indices.rank is None or updates.rank is None or ref.rank is None:
        return ref
    batch = indices.rank - 1
    _merge_part("outer", "indices", indices, slice(batch), updates, slice(batch))
    depth = indices.known_dims[-1]  # type: ignore[index]
    if depth is not None:
        _merge_part("inner", "input", ref, slice(depth, None), updates, slice(batch, None))
    return ref


def _merge_part(side: str, what: str, x: TensorShape, part: slice, updates: TensorShape, of_updates: slice) -> None:
    left, right = x[part], updates[of_updates]
    try:
        merged(left, right)
    except ValueError as error:
        raise ValueError(
            f"The {side} {left.rank} dimensions of {what}.shape={shape_text(x)} must match the {side} {right.rank} "
            f"dimensions of updates.shape={shape_text(updates)}: {error}"
        ) from None


def _check_elements(ref: Ref, buffer: np.ndarray, indices: np.ndarray, updates: Any) -> None:
    depth = indices.shape[-1]
    if depth > buffer.ndim or np.shape(updates) != indices.shape[:-1] + buffer.shape[depth:]:
        shapes = [dims_text(dims) for dims in (np.shape(updates), indices.shape, buffer.shape)]
        raise InvalidArgumentError(
            None,
            None,
            "Must have updates.shape = indices.shape[:batch_dim] + params_shape[slice_dim:], got updates.shape: "
            f"{shapes[0]}, indices.shape: {shapes[1]}, params_shape: {shapes[2]}, slice_dim: {depth}, and batch_dim: "
            f"{indices.ndim - 1} (variable {ref.name})",
        )
    bad = ((indices < 0) | (indices >= np.array(buffer.shape[:depth], np.int64))).any(axis=-1)
    if bad.any():
        where = np.argwhere(bad)[0]
        place = dims_text(where) if where.size else ""
        index = ", ".join(map(str, indices[tuple(where)]))
        raise InvalidArgumentError(
            None,
            None,
            f"indices{place} = [{index}] does not index into shape {dims_text(buffer.shape)} (variable {ref.name})",
        )


def _define_elements(name: str, types: str | None, use_locking: str, update: Update, stops_gradients: bool = True) -> Forms:
    t = f"type in [{types}]" if types else "type"
    op = define_op(
        f"{name}(ref: ref T, indices: Tindices, updates: T) -> (output_ref: ref T) "
        f"{{T: {t}; Tindices: type in [int32,int64]; use_locking: bool = {use_locking}}}"
    )
    op.shape(_nd_shape)
    of_handle = variable_op(
        f"Resource{name}(ref: resource, indices: Tindices, updates: T) -> () "
        "{T: type; Tindices: type in [int32,int64]; use_locking: bool = true; bad_indices_policy: string = ''} #stateful"
    )

    def update_elements(ref: Ref, indices: Any, updates: Any) -> Ref:
        buffer = buffer_of(ref)
        indices = np.asarray(indices)
        if indices.ndim == 0:
            raise InvalidArgumentError(None, None, f"indices must be at least 1-D, got a scalar (variable {ref.name})")
        _check_elements(ref, buffer, indices, updates)
        if indices.shape[-1] == 0:
            # An empty index is the whole variable: row 0 of a view with one more dimension.
            buffer, indices = buffer[np.newaxis], np.zeros((*indices.shape[:-1], 1), np.int64)
        if indices.size:
            with ref.updating:
                update(buffer, tuple(np.moveaxis(indices, -1, 0)), _own(updates, buffer))
        return ref

    return _finish(Forms(op, of_handle), update_elements, _nd_shape, stops_gradients)


scatter_nd_update_op = _define_elements("ScatterNdUpdate", None, "true", _replace)
scatter_nd_add_op = _define_elements("ScatterNdAdd", NUMBERS, "false", _apply(np.add))
scatter_nd_sub_op = _define_elements("ScatterNdSub", NUMBERS, "false", _apply(np.subtract))


# --- the public functions ----------------------------------------------------------------------------------------------


def _update(forms: Forms, ref: Any, indices: Any, updates: Any, use_locking: bool, name: str | None) -> Any:
    """The node in the form that suits the variable. AttributeError, as TensorFlow has it, when `ref` is none."""
    if is_reference(ref):
        return forms.of_reference(ref, indices, updates, use_locking=use_locking, name=name)
    if not hasattr(ref, "_lazy_read"):
        raise AttributeError(f"{ref!r} is not a variable: only variables have rows that can be updated")
    return ref._lazy_read(forms.of_handle(ref.handle, indices, convert_to_tensor(updates, ref.dtype), name=name))


def scatter_update(ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None) -> Any:
    """`ref[indices] = updates`: rows of a variable, the reference afterwards. Source: `tf.scatter_update`.

    `updates` has shape `indices.shape + ref.shape[1:]`, or is a scalar; so for all of the `scatter_` functions.
    """
    return _update(scatter_update_op, ref, indices, updates, use_locking, name)


def scatter_add(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """`ref[indices] += updates`; rows whose index comes more than once add up. Source: `tf.scatter_add`."""
    return _update(scatter_add_op, ref, indices, updates, use_locking, name)


def scatter_sub(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """`ref[indices] -= updates`. Source: `tf.scatter_sub`."""
    return _update(scatter_sub_op, ref, indices, updates, use_locking, name)


def scatter_mul(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """`ref[indices] *= updates`. Source: `tf.scatter_mul`."""
    return _update(scatter_mul_op, ref, indices, updates, use_locking, name)


def scatter_div(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """`ref[indices] /= updates`. Source: `tf.scatter_div`."""
    return _update(scatter_div_op, ref, indices, updates, use_locking, name)


def scatter_min(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """`ref[indices] = min(ref[indices], updates)`. Source: `tf.scatter_min`."""
    return _update(scatter_min_op, ref, indices, updates, use_locking, name)


def scatter_max(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """`ref[indices] = max(ref[indices], updates)`. Source: `tf.scatter_max`."""
    return _update(scatter_max_op, ref, indices, updates, use_locking, name)


def scatter_nd_update(ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None) -> Any:
    """`ref[index] = update` for each index, a vector in `indices`' last dimension. Source: `tf.scatter_nd_update`.

    `updates` has shape `indices.shape[:-1] + ref.shape[indices.shape[-1]:]`; so for all of the `scatter_nd_` functions.
    """
    return _update(scatter_nd_update_op, ref, indices, updates, use_locking, name)


def scatter_nd_add(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """`ref[index] += update` for each index. Source: `tf.scatter_nd_add`."""
    return _update(scatter_nd_add_op, ref, indices, updates, use_locking, name)


def scatter_nd_sub(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """`ref[index] -= update` for each index. Source: `tf.scatter_nd_sub`."""
    return _update(scatter_nd_sub_op, ref, indices, updates, use_locking, name)


def batch_scatter_update(ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None) -> Any:
    """`ref[..., indices[..., i]] = updates[..., i]`, for each element of the batch. Source: `tf.batch_scatter_update`.

    The dimensions of `indices` except the last are a batch, which `ref` and `updates` have, too.
    """
    with name_scope(name):
        indices = convert_to_tensor(indices, name="indices")
        batch = indices.shape.ndims - 1
        dims: Any = shape(indices)
        rows = expand_dims(indices, -1)
        columns = []
        for axis in range(batch):
            size = dims[axis]
            numbers = reshape(
                range_(0, size, dtype=indices.dtype.base_dtype), [*[1] * axis, size, *[1] * (batch - axis + 1)]
            )
            columns.append(numbers * ones_like(rows, dtype=indices.dtype.base_dtype))
        return scatter_nd_update(ref, concat([*columns, rows], axis=-1), updates, use_locking)
