"""TensorProto and NumPy arrays, each from the other, with the encoding that TensorFlow's own front end uses.

Arrays of two or more numbers are `tensor_content` (little-endian bytes). Scalars, arrays of one element,
bools, complex numbers and strings stand in the typed `*_val` field; there, when a tensor is larger than its
list of values, the last value is repeated. Strings in `tensor_content` (which only the wire has) are varint
lengths, then the bytes.
"""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

from tfexp.core import dtypes
from tfexp.core.dtypes import DType, as_dtype
from tfexp.formats.varint import decode_varints, encode_varints

Array = NDArray[Any]

_SCALAR = TensorShapeProto()
_MAX_CONTENT_BYTES = 2 << 30
_INT32_MIN, _INT32_MAX = -(1 << 31), (1 << 31) - 1

# The typed field of each dtype. bfloat16 and float16 are stored as their 16 bits, complex numbers as (real,
# imaginary) pairs.
_VALUE_FIELDS: dict[DType, str] = {
    dtypes.float32: "float_val",
    dtypes.float64: "double_val",
    dtypes.float16: "half_val",
    dtypes.bfloat16: "half_val",
    dtypes.int64: "int64_val",
    dtypes.uint32: "uint32_val",
    dtypes.uint64: "uint64_val",
    dtypes.bool: "bool_val",
    dtypes.string: "string_val",
    dtypes.complex64: "scomplex_val",
    dtypes.complex128: "dcomplex_val",
    **dict.fromkeys((dtypes.int8, dtypes.int16, dtypes.int32, dtypes.uint8, dtypes.uint16), "int_val"),
    **dict.fromkeys((dtypes.qint8, dtypes.quint8, dtypes.qint16, dtypes.quint16, dtypes.qint32), "int_val"),
}
# What stands in the list between the field and the element, where the two differ.
_STORED_AS: dict[DType, Any] = {
    dtypes.float16: np.uint16,
    dtypes.bfloat16: np.uint16,
    dtypes.complex64: np.float32,
    dtypes.complex128: np.float64,
}
_NEVER_CONTENT = (dtypes.bool, dtypes.uint16, dtypes.complex64, dtypes.complex128, dtypes.string)


def make_tensor_proto(
    values: Any, dtype: Any = None, shape: Any = None, verify_shape: bool = False, allow_broadcast: bool = False
) -> TensorProto:
    """The TensorProto of a Python value, nested list, or array; a TensorProto stays. Source: `tf.make_tensor_proto`.

    Without `dtype`, Python floats become float32, ints int32 (int64 or uint64 where they do not fit), str and
    bytes string; NumPy values keep their dtype. With `shape`, fewer values than elements mean that the last
    one is repeated (unless `verify_shape`; under `allow_broadcast` only a single value is). Integers that do
    not fit an explicit integer `dtype` wrap, as in TensorFlow.

    Raises TypeError for a value that `dtype` cannot hold (`Expected float32, got 'a' of type 'str' instead.`)
    or that no dtype can, for a shape that differs under `verify_shape` and for another number of elements under
    `allow_broadcast`; ValueError for both of these, for None, for nested lists of unequal lengths and for more
    values than `shape` has elements.
    """
    if verify_shape and allow_broadcast:
        raise ValueError("allow_broadcast and verify_shape are not both allowed.")
    if isinstance(values, TensorProto):
        return values
    wanted = None if dtype is None else as_dtype(dtype).base_dtype
    if shape is None:
        proto = _python_scalar(values, wanted)
        if proto is not None:
            return proto
    dims = None if shape is None else _static_dims(shape)
    if dims is not None and 0 in dims and not _is_array(values):
        values = []  # TensorFlow does not look at values that no element takes
    array, wanted = to_array(values, wanted)
    if dims is None:
        dims = array.shape
    else:
        size = math.prod(dims)
        is_one = array.shape in ((), (1,))
        if (verify_shape and dims != array.shape) or (allow_broadcast and not is_one and array.size != size):
            raise TypeError(f"Expected Tensor's shape: {dims}, got {array.shape}.")
        if 0 < size < array.size:
            raise ValueError(
                f"Too many elements provided. Needed at most {size}, but received {array.size} "
                f"(shape {list(dims)}, values of shape {list(array.shape)})"
            )
    return _encode(array, wanted, dims)


def array_to_wire(array: Array, dtype: Any = None) -> TensorProto:
    """The TensorProto of an array as processes send it: always `tensor_content`, strings too.

    `dtype` is needed only where the array's own does not tell (quantized types).
    """
    wanted = as_dtype(array.dtype if dtype is None else dtype).base_dtype
    proto = TensorProto(dtype=wanted.as_datatype_enum, tensor_shape=_SCALAR)
    for size in array.shape:
        proto.tensor_shape.dim.add(size=size)
    if wanted is dtypes.string:
        strings = _as_bytes_list(array)
        proto.tensor_content = encode_varints(map(len, strings)) + b"".join(strings)
    else:
        proto.tensor_content = _little_endian(array).tobytes()
    return proto


def array_to_content(array: Array, dtype: Any = None) -> TensorProto:
    """The TensorProto of an array as kernels write it to summaries: `tensor_content`, but strings one by one."""
    wanted = as_dtype(array.dtype if dtype is None else dtype).base_dtype
    return make_tensor_proto(array, dtype=wanted) if wanted is dtypes.string else array_to_wire(array, wanted)


def make_ndarray(tensor: TensorProto, writable: bool = True) -> Array:
    """The array of a TensorProto; strings are an object array of bytes. Source: `tf.make_ndarray`.

    `writable=False` may spare a copy. Raises TypeError for a dtype that has no values of its own (resource,
    variant, invalid), ValueError for a negative dimension and for content or values that do not agree with
    the shape.
    """
    enum = tensor.dtype
    dtype = as_dtype(enum).base_dtype if enum else None
    if dtype is None or dtype not in _VALUE_FIELDS:
        raise TypeError(f"Unsupported tensor type: {enum if dtype is None else dtype.name}")
    dims = tuple(dim.size for dim in tensor.tensor_shape.dim)
    if any(size < 0 for size in dims):
        raise ValueError(f"the tensor's shape {list(dims)} has a negative dimension")
    content = tensor.tensor_content
    if content:
        return _from_content(content, dtype, dims, writable)
    return _from_values(getattr(tensor, _VALUE_FIELDS[dtype]), dtype, dims)


def to_array(values: Any, dtype: DType | None = None, any_sequence: bool = False) -> tuple[Array, DType]:
    """`values` as (array of the dtype's NumPy type, dtype), by the rules of `make_tensor_proto`; strings
    become bytes.

    With `any_sequence`, as in eager execution, ranges and arrays may stand where lists do; their integers count as
    Python's, while NumPy's floats keep their dtype.
    """
    if values is None:
        raise ValueError("None values not supported.")
    if dtype is not None and dtype not in _VALUE_FIELDS:
        raise TypeError(f"A constant cannot have the type {dtype.name}: got {values!r}")
    if _is_array(values):
        if _is_tensor(values):
            raise TypeError("List of Tensors when single Tensor expected")
        array = np.asarray(values)
        dtype = dtype or as_dtype(array.dtype)
        if dtype is dtypes.string:
            return _object_array(_as_bytes_list(array), array.shape), dtype
        return array.astype(dtype.as_numpy_dtype, copy=False), dtype
    return _python_to_array(values, dtype, any_sequence)


def _python_scalar(value: Any, dtype: DType | None) -> TensorProto | None:
    """The proto of one Python number, bool or string; None where the general way must decide."""
    kind = type(value)
    if kind is float:
        if dtype is None or dtype is dtypes.float32:
            return TensorProto(dtype=1, float_val=(value,), tensor_shape=_SCALAR)
        if dtype is dtypes.float64:
            return TensorProto(dtype=2, double_val=(value,), tensor_shape=_SCALAR)
    elif kind is int:
        if dtype is None or dtype is dtypes.int32:
            if _INT32_MIN <= value <= _INT32_MAX:
                return TensorProto(dtype=3, int_val=(value,), tensor_shape=_SCALAR)
        elif dtype is dtypes.float32 and _INT32_MIN <= value <= _INT32_MAX:
            return TensorProto(dtype=1, float_val=(value,), tensor_shape=_SCALAR)
    elif kind is bool:
        if dtype is None or dtype is dtypes.bool:
            return TensorProto(dtype=10, bool_val=(value,), tensor_shape=_SCALAR)
    elif kind in (str, bytes) and (dtype is None or dtype is dtypes.string):
        encoded = value.encode() if kind is str else value
        return TensorProto(dtype=7, string_val=(encoded,), tensor_shape=_SCALAR)
    return None


def _python_to_array(values: Any, dtype: DType | None, any_sequence: bool = False) -> tuple[Array, DType]:
    """`to_array` for what is not an array itself: a scalar, or nested lists and tuples."""
    try:
        array = np.array(values)
    except Exception as error:  # NumPy's reasons are many; TensorFlow's words for them are few.
        if not isinstance(error, UnicodeDecodeError):  # text beside bytes that are not ASCII: strings all the same
            _refuse_leaves(values, dtype)
            _refuse_arrays(values, dtype)
        array = _of_objects(values)
    dims = _dense_dims(values)
    if any_sequence and list(array.shape) != dims and array.dtype != object:
        kept = as_dtype(array.dtype) if dtype is None and array.dtype.kind == "f" else dtype
        return _python_to_array(array.tolist(), kept)
    if list(array.shape) != dims:
        _refuse_leaves(values, dtype)
        raise ValueError(f"Argument must be a dense tensor: {values!r} - got shape {list(array.shape)}, but wanted {dims}.")
    if array.size == 0:
        dtype = dtype or dtypes.float32
        return np.empty(array.shape, dtype.as_numpy_dtype), dtype
    kind = array.dtype.kind
    if kind in "USO" or dtype is dtypes.string:
        return _strings_or_odd_numbers(values, array, dtype)
    if dtype is None:
        return _default_dtype(array)
    if not _kind_fits(as_dtype(array.dtype), dtype):
        _refuse_leaves(values, dtype)
    if dtype.is_quantized and array.shape[-1:] == (1,) and _ends_in_tuples(values):
        array = array[..., 0]  # a quantized number is a tuple of one, as in NumPy's structured arrays
    with np.errstate(over="ignore"):  # a float that the dtype cannot hold becomes infinite
        return array.astype(dtype.as_numpy_dtype, copy=False), dtype


def _of_objects(values: Any) -> Array:
    """Nested lists as an array of what lies below the depth at which lengths differ; ValueError where NumPy makes none."""
    try:
        return np.array(values, object)
    except Exception as error:
        raise ValueError(
            f"Argument must be a dense tensor: {values!r} - got nested sequences of unequal lengths, "
            f"but wanted {_dense_dims(values)}."
        ) from error


def _default_dtype(array: Array) -> tuple[Array, DType]:
    """What Python numbers become without a dtype: float32; int32 where all fit."""
    if array.dtype == np.float64:
        with np.errstate(over="ignore"):
            return array.astype(np.float32), dtypes.float32
    if array.dtype == np.int64 and array.min() >= _INT32_MIN and array.max() <= _INT32_MAX:
        return array.astype(np.int32), dtypes.int32
    return array, as_dtype(array.dtype)


def _strings_or_odd_numbers(values: Any, array: Array, dtype: DType | None) -> tuple[Array, DType]:
    """`values` where NumPy found text or Python objects, or where text is wanted."""
    leaves = _leaves(values)
    if dtype is None or dtype is dtypes.string:
        # From the leaves, not from the array: NumPy drops trailing zero bytes and turns numbers beside text
        # into text.
        if all(isinstance(leaf, (str, bytes)) for leaf in leaves):
            encoded = [leaf.encode() if isinstance(leaf, str) else leaf for leaf in leaves]
            return _object_array(encoded, array.shape), dtypes.string
        _refuse_leaves(values, dtype)
        raise TypeError(_cannot_convert(values))
    _refuse_leaves(values, dtype)
    return np.array(values, dtype.as_numpy_dtype), dtype  # Python ints beyond 64 bits, Dimensions


def _kind_fits(found: DType, wanted: DType) -> bool:
    """Whether every Python number that NumPy gathers into `found` may be a `wanted`."""
    if wanted.is_bool:
        return found.is_bool
    if wanted.is_integer or wanted.is_quantized:
        return found.is_integer or found.is_bool
    return wanted.is_complex or not found.is_complex


def _refuse_leaves(values: Any, dtype: DType | None) -> None:
    """TypeError in TensorFlow's words for the first leaf that `dtype` cannot hold; returns where there is
    none.
    """
    for leaf in _leaves(values):
        if dtype is None:
            if _is_tensor(leaf):
                raise TypeError("List of Tensors when single Tensor expected")
            continue
        if dtype is dtypes.string:
            fits = isinstance(leaf, (str, bytes))
        elif dtype.is_bool:
            fits = isinstance(leaf, (bool, np.bool_))
        elif dtype.is_integer or dtype.is_quantized:
            fits = isinstance(leaf, (numbers.Integral, np.bool_)) or _is_dimension(leaf)
        elif dtype.is_floating:
            fits = isinstance(leaf, numbers.Real) or (isinstance(leaf, np.generic) and leaf.dtype.kind in "bV")
        else:
            fits = isinstance(leaf, numbers.Complex)
        if not (fits or isinstance(leaf, np.ndarray)):
            raise TypeError(f"Expected {dtype.name}, got {leaf!r} of type '{type(leaf).__name__}' instead.")


def _refuse_arrays(values: Any, dtype: DType | None) -> None:
    """TypeError for lists of arrays whose shapes differ, where the lists themselves are dense."""
    array = _of_objects(values)
    found = next((leaf for leaf in array.flat if isinstance(leaf, np.ndarray)), None)
    if found is None or list(array.shape) != _dense_dims(values):
        return
    if dtype is not None:
        raise TypeError(f"Expected {dtype.name}, got {found!r} of type 'ndarray' instead.")
    raise TypeError(_cannot_convert(values))


def _cannot_convert(values: Any) -> str:
    return (
        f"Failed to convert object of type {type(values)} to Tensor. Contents: {values!r}. "
        "Consider casting elements to a supported type."
    )


def _is_array(values: Any) -> bool:
    """Whether `values` brings its own dtype: an array, a NumPy scalar, a buffer, what NumPy can see as an array."""
    buffer = isinstance(values, (np.ndarray, np.generic, bytearray, memoryview))
    return buffer or hasattr(values, "__array__") or isinstance(getattr(values, "__array_interface__", None), dict)


def _is_tensor(value: Any) -> bool:
    """Whether `value` is a graph's tensor; by its attributes, because graph stands above formats."""
    return hasattr(value, "value_index") and hasattr(value, "op")


def _is_dimension(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, np.ndarray)


def _leaves(values: Any) -> list[Any]:
    """The elements of nested lists and tuples, in order."""
    if not isinstance(values, (list, tuple)):
        return [values]
    return [leaf for item in values for leaf in (_leaves(item) if isinstance(item, (list, tuple)) else (item,))]


def _ends_in_tuples(values: Any) -> bool:
    """Whether the innermost of nested lists and tuples (the first) is a tuple."""
    while isinstance(values[0], (list, tuple)):
        values = values[0]
    return isinstance(values, tuple)


def _dense_dims(values: Any) -> list[int]:
    """The shape that the first elements of nested lists suggest."""
    dims = []
    while isinstance(values, (list, tuple)):
        dims.append(len(values))
        if not values:
            break
        values = values[0]
    return dims


def _static_dims(shape: Any) -> tuple[int, ...]:
    """A `shape` argument (ints, Dimensions, a TensorShape) as ints; TypeError or ValueError unless fully
    defined.
    """
    dims = []
    for dim in shape:
        size = getattr(dim, "value", dim)
        if size is None:
            raise TypeError(f"the shape of a constant must be fully defined, got {shape}")
        dims.append(int(size))
    if any(size < 0 for size in dims):
        raise ValueError(f"the shape of a constant must have no negative dimension, got {dims}")
    return tuple(dims)


def _object_array(elements: list[Any], dims: tuple[int, ...]) -> Array:
    array = np.empty(len(elements), object)
    array[:] = elements
    return array.reshape(dims)


def _as_bytes_list(array: Array) -> list[bytes]:
    """The elements of an array of text or bytes, as bytes, in order."""
    encoded = []
    for value in array.ravel().tolist():
        if isinstance(value, str):
            value = value.encode()
        elif not isinstance(value, bytes):
            raise TypeError(f"Expected binary or unicode string, got {value!r}")
        encoded.append(value)
    return encoded


def _little_endian(array: Array) -> Array:
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def _encode(array: Array, dtype: DType, dims: tuple[int, ...]) -> TensorProto:
    """The proto of `array`, whose elements (perhaps fewer) are those of a tensor of shape `dims`."""
    proto = TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=_SCALAR)
    for size in dims:
        proto.tensor_shape.dim.add(size=size)
    size = math.prod(dims)
    if size == 0 or array.size == 0:
        return proto
    if array.size == size > 1 and dtype not in _NEVER_CONTENT:
        if array.nbytes >= _MAX_CONTENT_BYTES:
            raise ValueError(
                f"Cannot create a tensor proto whose content is larger than 2GB: {dtype.name} of shape "
                f"{list(dims)} has {array.nbytes} bytes"
            )
        proto.tensor_content = _little_endian(array).tobytes()
        return proto
    flat = array.ravel()
    if dtype in _STORED_AS:
        flat = flat.view(_STORED_AS[dtype])
    getattr(proto, _VALUE_FIELDS[dtype]).extend(flat.tolist())
    return proto


def _from_content(content: bytes, dtype: DType, dims: tuple[int, ...], writable: bool) -> Array:
    size = math.prod(dims)
    if dtype is dtypes.string:
        return _strings_from_content(content, dims, size)
    element = np.dtype(dtype.as_numpy_dtype)
    if len(content) != size * element.itemsize:
        raise ValueError(
            f"tensor_content has {len(content)} bytes, but {dtype.name} of shape {list(dims)} "
            f"needs {size * element.itemsize}"
        )
    array = np.frombuffer(content, element.newbyteorder("<")).astype(element, copy=writable)
    return array.reshape(dims)


def _strings_from_content(content: bytes, dims: tuple[int, ...], size: int) -> Array:
    try:
        lengths, position = decode_varints(content, 0, size)
    except ValueError as error:
        raise ValueError(f"tensor_content of string of shape {list(dims)}: {error}") from None
    if position + sum(lengths) != len(content):
        raise ValueError(
            f"tensor_content has {len(content)} bytes, but its {size} strings (shape {list(dims)}) "
            f"need {position + sum(lengths)}"
        )
    strings = []
    for length in lengths:
        strings.append(content[position : position + length])
        position += length
    return _object_array(strings, dims)


def _from_values(values: Any, dtype: DType, dims: tuple[int, ...]) -> Array:
    size = math.prod(dims)
    field = _VALUE_FIELDS[dtype]
    if dtype is dtypes.string:
        found: Array = _object_array(list(values), (len(values),))
    elif dtype in _STORED_AS:
        stored = _STORED_AS[dtype]
        if dtype.is_complex and len(values) % 2:
            raise ValueError(f"{field} has {len(values)} numbers, an odd count, for {dtype.name} of shape {list(dims)}")
        raw = np.array(values, np.int64 if stored is np.uint16 else stored)
        found = raw.astype(stored, copy=False).view(dtype.as_numpy_dtype)
    else:
        # Through int64, so that a number outside a narrow type wraps as in TensorFlow.
        wide = np.int64 if field == "int_val" else dtype.as_numpy_dtype
        found = np.array(values, wide).astype(dtype.as_numpy_dtype, copy=False)
    if found.size == size:
        return found.reshape(dims)
    if found.size > size:
        raise ValueError(f"{field} has {found.size} values, but the shape {list(dims)} has room for {size}")
    last = found[-1] if found.size else (b"" if dtype is dtypes.string else 0)
    array = np.full(size, last, found.dtype)
    array[: found.size] = found
    return array.reshape(dims)
