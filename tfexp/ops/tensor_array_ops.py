"""The ops of `tf.TensorArray` (`TensorArrayV3` and those beside it) and the array that they share while a step runs.

The flow, a float scalar, carries no value: it orders reads after writes.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.dtypes import DType, as_dtype, type_text
from tfexp.core.errors import InvalidArgumentError, OpError, UnimplementedError
from tfexp.core.merged_shape import shape_text
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.array import Array
from tfexp.ops.shape_rules import with_rank

_FLOW = np.float32(0)
_numbers = itertools.count()  # an array's name has one, as nodes run again and again


class _Element:
    """One place of an array: what was written to it, and what happened to it since."""

    __slots__ = ("cleared", "read", "shape", "value", "written")

    def __init__(self) -> None:
        self.value: Any = None
        self.shape: tuple[int, ...] | None = None
        self.written = self.read = self.cleared = False


class Elements:
    """The values of one TensorArray in one step. Each place is written once; in a gradient, what is written adds up."""

    def __init__(
        self,
        name: str,
        dtype: DType,
        size: int,
        element_shape: TensorShape,
        dynamic_size: bool,
        clear_after_read: bool,
        identical_shapes: bool,
        adds_up: bool = False,
    ):
        self.name = name
        self.dtype = dtype
        self.element_shape = element_shape
        self.dynamic_size = dynamic_size
        self.clear_after_read = clear_after_read
        self.identical_shapes = identical_shapes
        self.adds_up = adds_up
        self.closed = False
        self.pieces: int | None = None  # that a value was split into: writes may have followed
        self.gradients: dict[str, Elements] = {}
        self.places = [_Element() for _ in range(size)]
        # The last element shape and shape of a value that were compared, and were compatible.
        self._fits: tuple[TensorShape, tuple[int, ...]] | None = None

    def check_open(self) -> None:
        if self.closed:
            raise self._error("has already been closed.", "")

    def _error(self, what: str, colon: str = ":") -> OpError:
        return InvalidArgumentError(None, None, f"TensorArray {self.name}{colon} {what}")

    def grow(self, size: int) -> None:
        while len(self.places) < size:
            self.places.append(_Element())

    def write(self, index: int, value: Any) -> None:
        self.check_open()
        if index < 0 or (index >= len(self.places) and not self.dynamic_size):
            kind = "resizeable" if self.dynamic_size else "not resizeable"
            raise self._error(f"Tried to write to index {index} but array is {kind} and size is: {len(self.places)}")
        self.grow(index + 1)
        place, shape = self.places[index], np.shape(value)
        fits = self._fits
        if fits is None or fits[0] is not self.element_shape or fits[1] != shape:
            self._check_shape(index, shape)
        if place.read:
            raise self._error(f"Could not write to TensorArray index {index} because it has already been read.")
        if place.written:
            if not self.adds_up:
                raise self._error(f"Could not write to TensorArray index {index} because it has already been written to.")
            if place.shape != shape:
                raise self._error(
                    f"Could not aggregate to TensorArray index {index} because the existing shape is "
                    f"{_text(place.shape or ())} but the new input shape is {_text(shape)}."
                )
            place.value = np.add(place.value, value)
            return
        place.value, place.shape, place.written = value, shape, True
        if self.identical_shapes and not self.element_shape.is_fully_defined():
            self.element_shape = TensorShape(shape)

    def _check_shape(self, index: int, shape: tuple[int, ...]) -> None:
        if not self.element_shape.is_compatible_with(shape):
            raise self._error(
                f"Could not write to TensorArray index {index} because the value shape is {_text(shape)} which is "
                f"incompatible with the TensorArray's inferred element shape: {shape_text(self.element_shape)} (consider "
                "setting infer_shape=False)."
            )
        self._fits = (self.element_shape, shape)

    def read(self, index: int) -> Any:
        self.check_open()
        if not 0 <= index < len(self.places):
            raise InvalidArgumentError(None, None, f"Tried to read from index {index} but array size is: {len(self.places)}")
        place = self.places[index]
        if place.cleared:
            raise self._error(
                f"Could not read index {index} twice because it was cleared after a previous read (perhaps try setting "
                "clear_after_read = false?)."
            )
        if not place.written:
            place.value = self._zeros(index, place)
            place.shape, place.written = place.value.shape, True
        value = place.value
        place.read = True
        if self.clear_after_read:
            place.value, place.cleared = None, True
        return value

    def _zeros(self, index: int, place: _Element) -> Any:
        """What was never written is zeros, where its shape is known."""
        shape = place.shape if place.shape is not None else self.element_shape.known_dims
        if shape is None or None in shape:
            raise self._error(
                f"Could not read from TensorArray index {index}.  Furthermore, the element shape is not fully defined: "
                f"{shape_text(self.element_shape) if self.element_shape.rank is not None else '<unknown>'}.  It is possible "
                "you are working with a resizeable TensorArray and stop_gradients is not allowing the gradients to be "
                "written.  If you set the full element_shape property on the forward TensorArray, the proper all-zeros "
                "tensor will be returned instead of incurring this error."
            )
        fill: Any = b"" if self.dtype.as_numpy_dtype is object else 0
        return np.full(shape, fill, self.dtype.as_numpy_dtype)  # type: ignore[arg-type]

    def gradient(self, source: str) -> Elements:
        """The array that gradients of this one are summed in, one for each `source` (a call of tf.gradients)."""
        self.check_open()
        self.dynamic_size = False
        found = self.gradients.get(source)
        if found is None:
            found = Elements(
                f"{self.name}@{source}",
                self.dtype,
                len(self.places),
                self.element_shape,
                dynamic_size=False,
                clear_after_read=True,
                identical_shapes=self.identical_shapes,
                adds_up=True,
            )
            found.pieces = self.pieces
            for mine, theirs in zip(self.places, found.places, strict=True):
                theirs.shape = mine.shape
            self.gradients[source] = found
        return found


def _text(shape: Sequence[int]) -> str:
    return shape_text(TensorShape(list(shape)))


# --- TensorArrayV3 ----------------------------------------------------------------------------------------------------

tensor_array_op = define_op(
    "TensorArrayV3(size: int32) -> (handle: resource, flow: float) {dtype: type; element_shape: shape = unknown;"
    " dynamic_size: bool = false; clear_after_read: bool = true; identical_element_shapes: bool = false;"
    " tensor_array_name: string = ''} #stateful"
)


@tensor_array_op.shape
def _(size: InputShape) -> list[TensorShape]:
    with_rank(size, 0)
    return [TensorShape([2]), TensorShape([])]


@tensor_array_op.kernel("CPU")
def _(
    ctx: Any,
    size: Array,
    *,
    dtype: DType,
    element_shape: TensorShape,
    dynamic_size: bool,
    clear_after_read: bool,
    identical_element_shapes: bool,
    tensor_array_name: str,
) -> list[Any]:
    if size < 0:
        raise InvalidArgumentError(None, None, "Size should be >= 0.")
    name = f"{tensor_array_name or ctx.node_name}_{next(_numbers)}"
    elements = Elements(name, dtype, int(size), element_shape, dynamic_size, clear_after_read, identical_element_shapes)
    return [elements, _FLOW]


tensor_array_op.not_differentiable()

# --- TensorArrayGradV3 ------------------------------------------------------------------------------------------------

tensor_array_grad_op = define_op(
    "TensorArrayGradV3(handle: resource, flow_in: float) -> (grad_handle: resource, flow_out: float)"
    " {source: string} #stateful"
)


@tensor_array_grad_op.shape
def _(handle: InputShape, flow_in: InputShape) -> list[TensorShape]:
    return [TensorShape([2]), TensorShape([])]


@tensor_array_grad_op.kernel("CPU")
def _(ctx: Any, handle: Elements, flow_in: Array, *, source: str) -> list[Any]:
    return [handle.gradient(source), _FLOW]


tensor_array_grad_op.not_differentiable()


# --- one element ------------------------------------------------------------------------------------------------------

tensor_array_write_op = define_op(
    "TensorArrayWriteV3(handle: resource, index: int32, value: T, flow_in: float) -> (flow_out: float) {T: type} #stateful"
)


@tensor_array_write_op.shape
def _(handle: InputShape, index: InputShape, value: InputShape, flow_in: InputShape) -> TensorShape:
    with_rank(index, 0)
    return with_rank(flow_in, 0)


@tensor_array_write_op.kernel("CPU")
def _(ctx: Any, handle: Elements, index: Array, value: Array, flow_in: Array) -> Any:
    _check_type(handle, value)
    handle.write(int(index), value)
    return _FLOW


def _check_type(handle: Elements, value: Any) -> None:
    if value.dtype != handle.dtype.as_numpy_dtype:
        expected, given = type_text(handle.dtype), type_text(as_dtype(value.dtype))
        raise InvalidArgumentError(None, None, f"TensorArray dtype is {expected} but Op is trying to write dtype {given}.")


tensor_array_read_op = define_op(
    "TensorArrayReadV3(handle: resource, index: int32, flow_in: float) -> (value: dtype) {dtype: type} #stateful"
)


@tensor_array_read_op.shape
def _(handle: InputShape, index: InputShape, flow_in: InputShape) -> TensorShape:
    with_rank(index, 0)
    return TensorShape(None)


@tensor_array_read_op.kernel("CPU", view=True)
def _(ctx: Any, handle: Elements, index: Array, flow_in: Array, *, dtype: DType) -> Any:
    if dtype is not handle.dtype:
        raise InvalidArgumentError(
            None, None, f"TensorArray dtype is {type_text(handle.dtype)} but Op requested dtype {type_text(dtype)}."
        )
    return handle.read(int(index))


# --- many elements ----------------------------------------------------------------------------------------------------

tensor_array_gather_op = define_op(
    "TensorArrayGatherV3(handle: resource, indices: int32, flow_in: float) -> (value: dtype) {dtype: type;"
    " element_shape: shape = unknown} #stateful"
)


@tensor_array_gather_op.shape
def _(handle: InputShape, indices: InputShape, flow_in: InputShape, *, element_shape: TensorShape) -> TensorShape:
    return TensorShape(with_rank(indices, 1)).concatenate(element_shape)


@tensor_array_gather_op.kernel("CPU")
def _(ctx: Any, handle: Elements, indices: Array, flow_in: Array, *, element_shape: TensorShape) -> Array:
    """`element_shape` becomes the array's, which says what was never written is zeros of."""
    if not handle.element_shape.is_compatible_with(element_shape):
        raise InvalidArgumentError(
            None,
            None,
            f"Incompatible shapes during merge: {shape_text(handle.element_shape)} vs. {shape_text(element_shape)}",
        )
    handle.element_shape = handle.element_shape.merge_with(element_shape)
    if indices.size == 0:
        known = _known(handle, handle.element_shape, "element shape", "packing")
        return np.empty([0, *known], handle.dtype.as_numpy_dtype)
    values = [handle.read(int(i)) for i in indices]
    first = np.shape(values[0])
    if not element_shape.is_compatible_with(first):
        raise _other_shape("element_shape", element_shape, f"the Tensor at index {indices[0]}: {_text(first)}")
    for i, value in zip(indices, values, strict=True):
        if np.shape(value) != first:
            raise InvalidArgumentError(
                None,
                None,
                f"TensorArray has inconsistent shapes.  Index {indices[0]} has shape: {_text(first)} but index {i} has "
                f"shape: {_text(np.shape(value))}",
            )
    if handle.dtype.as_numpy_dtype is object:
        joined = np.empty([len(values), *first], object)
        for i, value in enumerate(values):
            joined[i] = value if first else np.asarray(value, object)[()]
        return joined
    return np.stack(values) if first else np.array(values, handle.dtype.as_numpy_dtype)


def _other_shape(what: str, passed: TensorShape, found: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        None, None, f"TensorArray was passed {what} {shape_text(passed)} which does not match {found}"
    )


def _known(handle: Elements, shape: TensorShape, what: str, doing: str) -> list[int]:
    if not shape.is_fully_defined():
        raise UnimplementedError(
            None,
            None,
            f"TensorArray has size zero, but {what} {shape} is not fully defined. Currently only static shapes are "
            f"supported when {doing} zero-size TensorArrays.",
        )
    return list(shape.known_dims or ())  # type: ignore[arg-type]


tensor_array_scatter_op = define_op(
    "TensorArrayScatterV3(handle: resource, indices: int32, value: T, flow_in: float) -> (flow_out: float)"
    " {T: type} #stateful"
)


@tensor_array_scatter_op.shape
def _(handle: InputShape, indices: InputShape, value: InputShape, flow_in: InputShape) -> TensorShape:
    rows = TensorShape(with_rank(indices, 1))[0].value
    count = value[0].value if value.rank else None
    if value.rank == 0:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    if rows is not None and count is not None and rows != count:
        raise ValueError(f"Dimensions must be equal, but are {count} and {rows}")
    return with_rank(flow_in, 0)


@tensor_array_scatter_op.kernel("CPU")
def _(ctx: Any, handle: Elements, indices: Array, value: Array, flow_in: Array) -> Any:
    _check_type(handle, value)
    handle.check_open()
    if value.shape[:1] != indices.shape:
        raise InvalidArgumentError(
            None, None, f"Expected len(indices) == values.shape[0], but saw: {indices.size} vs. {value.shape[:1]}"
        )
    if indices.size:
        last = int(indices.max())
        if last >= len(handle.places) and not handle.dynamic_size:
            raise InvalidArgumentError(
                None, None, f"Max scatter index must be < array size ({last} vs. {len(handle.places)})"
            )
    for i, element in zip(indices.tolist(), value, strict=True):
        handle.write(i, element if isinstance(element, (np.ndarray, np.generic)) else np.asarray(element, object))
    return _FLOW


tensor_array_concat_op = define_op(
    "TensorArrayConcatV3(handle: resource, flow_in: float) -> (value: dtype, lengths: int64) {dtype: type;"
    " element_shape_except0: shape = unknown} #stateful"
)


@tensor_array_concat_op.shape
def _(handle: InputShape, flow_in: InputShape, *, element_shape_except0: TensorShape) -> list[TensorShape]:
    return [TensorShape([None]).concatenate(element_shape_except0), TensorShape([None])]


@tensor_array_concat_op.kernel("CPU")
def _(ctx: Any, handle: Elements, flow_in: Array, *, element_shape_except0: TensorShape) -> list[Array]:
    # The gradient of what was split has as many pieces, whatever was written behind them.
    count = handle.pieces if handle.adds_up and handle.pieces is not None else len(handle.places)
    if not count:
        rest = _known(handle, element_shape_except0, "element_shape_except0", "concatenating")
        return [np.empty([0, *rest], handle.dtype.as_numpy_dtype), np.empty([0], np.int64)]
    values = [handle.read(i) for i in range(count)]
    rest = list(np.shape(values[0])[1:])
    for i, value in enumerate(values):
        if not np.shape(value):
            raise InvalidArgumentError(
                None,
                None,
                f"Concat saw a scalar shape at index {i} but requires at least vectors.  Did you mean to call pack?",
            )
        if list(np.shape(value)[1:]) != rest:
            raise InvalidArgumentError(
                None,
                None,
                f"TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: {_text(rest)} but "
                f"index {i} has (excepting dimension 0) shape: {_text(np.shape(value)[1:])}",
            )
    if not element_shape_except0.is_compatible_with(rest):
        raise _other_shape(
            "element_shape_except0", element_shape_except0, f"index 0, (excepting dimension 0) of shape: {_text(rest)}"
        )
    return [np.concatenate(values), np.array([len(value) for value in values], np.int64)]


tensor_array_split_op = define_op(
    "TensorArraySplitV3(handle: resource, value: T, lengths: int64, flow_in: float) -> (flow_out: float) {T: type} #stateful"
)


@tensor_array_split_op.shape
def _(handle: InputShape, value: InputShape, lengths: InputShape, flow_in: InputShape) -> TensorShape:
    with_rank(lengths, 1)
    return with_rank(flow_in, 0)


@tensor_array_split_op.kernel("CPU")
def _(ctx: Any, handle: Elements, value: Array, lengths: Array, flow_in: Array) -> Any:
    _check_type(handle, value)
    handle.check_open()
    if value.ndim == 0:
        raise InvalidArgumentError(None, None, "Expected value to be at least a vector, but received shape: []")
    if lengths.ndim != 1:
        raise InvalidArgumentError(None, None, f"Expected lengths to be a vector, received shape: {_text(lengths.shape)}")
    if lengths.sum() != len(value):
        raise InvalidArgumentError(
            None,
            None,
            f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {lengths.sum()} and value's "
            f"shape is: {_text(value.shape)}",
        )
    if handle.dynamic_size:
        handle.grow(lengths.size)
    if lengths.size != len(handle.places):
        raise InvalidArgumentError(
            None,
            None,
            f"TensorArray's size is not equal to the size of lengths ({len(handle.places)} vs. {lengths.size}), and the "
            "TensorArray is not marked as dynamically resizeable",
        )
    if not handle.adds_up:
        handle.pieces = lengths.size
    start = 0
    for i, length in enumerate(lengths.tolist()):
        handle.write(i, value[start : start + length])
        start += length
    return _FLOW


# --- the array as a whole ---------------------------------------------------------------------------------------------

tensor_array_size_op = define_op("TensorArraySizeV3(handle: resource, flow_in: float) -> (size: int32) #stateful")


@tensor_array_size_op.shape
def _(handle: InputShape, flow_in: InputShape) -> TensorShape:
    return TensorShape([])


@tensor_array_size_op.kernel("CPU")
def _(ctx: Any, handle: Elements, flow_in: Array) -> Any:
    handle.check_open()
    return np.int32(len(handle.places))


tensor_array_size_op.not_differentiable()

tensor_array_close_op = define_op("TensorArrayCloseV3(handle: resource) -> () #stateful")


@tensor_array_close_op.shape
def _(handle: InputShape) -> None:
    return None


@tensor_array_close_op.kernel("CPU")
def _(ctx: Any, handle: Elements) -> None:
    handle.closed = True
    handle.places.clear()


tensor_array_close_op.not_differentiable()

# Those that gradients flow through; their rules are in `tensor_array_gradients`.
DIFFERENTIABLE: tuple[Op, ...] = (
    tensor_array_read_op,
    tensor_array_write_op,
    tensor_array_gather_op,
    tensor_array_scatter_op,
    tensor_array_concat_op,
    tensor_array_split_op,
)
