"""Python values become tensors: constants, `convert_to_tensor` and its registry, `IndexedSlices`. Source: TF 1.15."""

from __future__ import annotations

import copyreg
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.deprecation import deprecated_argument_lookup
from tfexp.core.dtypes import DType, as_dtype
from tfexp.core.op import get_op
from tfexp.core.shape import Dimension, TensorShape
from tfexp.formats.eager_values import eager_array
from tfexp.formats.tensor import make_tensor_proto
from tfexp.graph.eager_tensor import EagerTensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor

Converter = Callable[..., Any]

_CONVERTERS: list[tuple[int, int, type | tuple[type, ...], Converter]] = []


def register_tensor_conversion_function(base_type: Any, conversion_func: Converter, priority: int = 100) -> None:
    """Let `conversion_func(value, dtype, name, as_ref)` convert instances of `base_type` (a type or a tuple of types).

    Functions of lower `priority` are asked first, then those registered earlier; NotImplemented passes on. TypeError for
    what is no type or no function, and for the types of Python's and NumPy's numbers.
    """
    base_types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(one, type) for one in base_types):
        raise TypeError("base_type must be a type or a tuple of types.")
    if any(issubclass(one, (int, float, np.generic, np.ndarray)) for one in base_types):
        raise TypeError("Cannot register conversions for Python numeric types and NumPy scalars and arrays.")
    if not callable(conversion_func):
        raise TypeError("conversion_func must be callable.")
    _CONVERTERS.append((priority, len(_CONVERTERS), base_type, conversion_func))
    _CONVERTERS.sort(key=lambda entry: entry[:2])


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const", verify_shape: bool = False) -> Tensor:
    """A `Const` node. With `shape`, a value of fewer elements is repeated (`verify_shape` forbids it). `tf.constant`.

    Where ops run at once only a single element is repeated; TypeError for others that do not fill the shape. There, any
    sequence may stand for a list, and arrays may be elements of lists.
    """
    if shape is not None:
        shape = TensorShape(shape).as_list()
    graph = get_default_graph()
    if graph.is_eager and isinstance(value, EagerTensor):
        if dtype is not None and as_dtype(dtype) != value.dtype:
            raise TypeError(f"Expected tensor with type {as_dtype(dtype)!r} not {value.dtype!r}")
        if shape is None:
            return value
        value = value.numpy()
    if graph.is_eager and shape is not None and (size := np.size(value)) not in (1, math.prod(shape)):
        raise TypeError(
            f"Eager execution of tf.constant with unsupported shape (value has {size} elements, shape is {tuple(shape)} "
            f"with {math.prod(shape)} elements)."
        )
    if graph.is_eager and shape is None:
        if isinstance(value, (Dimension, TensorShape)):
            return convert_to_tensor(value, dtype=dtype, name=name)
        return graph.value(*eager_array(value, None if dtype is None else as_dtype(dtype)))
    proto = make_tensor_proto(value, dtype=dtype, shape=shape, verify_shape=verify_shape)
    op = graph.add_node("Const", [], {"value": proto, "dtype": as_dtype(proto.dtype)}, name=name)
    return op.outputs[0]


def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    preferred_dtype: Any = None,
    dtype_hint: Any = None,
    as_ref: bool = False,
) -> Tensor:
    """`value` as a Tensor of the default graph. Source: `tf.convert_to_tensor`, TF 1.15.

    `dtype` is what it has to become (TypeError or ValueError if it cannot), `preferred_dtype` / `dtype_hint` what it should
    become if it can. `as_ref` keeps a variable's reference instead of reading it.
    """
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, Tensor):
        return _checked_dtype(value, wanted)
    hint = deprecated_argument_lookup("dtype_hint", dtype_hint, "preferred_dtype", preferred_dtype)
    if type(value) in _SCALARS and (graph := get_default_graph()).is_eager:
        # The same few numbers come again and again, and their tensors never change.
        key = (type(value), str(value), wanted, hint)
        if key not in graph.scalars:
            graph.scalars[key] = _by_type(value, wanted, name, hint, as_ref)
        return graph.scalars[key]
    return _by_type(value, wanted, name, hint, as_ref)


_SCALARS = frozenset({int, float, bool})


def _by_type(value: Any, wanted: DType | None, name: str | None, hint: Any, as_ref: bool) -> Tensor:
    """What the converters of the value's type make of it."""
    for _, _, base_type, convert in _CONVERTERS:
        if not isinstance(value, base_type):
            continue
        result: Any = NotImplemented
        if wanted is None and hint is not None:
            try:
                result = convert(value, dtype=as_dtype(hint), name=name, as_ref=as_ref)
            except (TypeError, ValueError):
                result = NotImplemented  # a preference only: the value's own type is tried next
        if result is NotImplemented:
            result = convert(value, dtype=wanted, name=name, as_ref=as_ref)
        if result is NotImplemented:
            continue
        if not isinstance(result, Tensor):
            raise RuntimeError(f"Conversion function {convert!r} for type {base_type} returned non-Tensor: {result!r}")
        if wanted is not None and not wanted.is_compatible_with(result.dtype):
            raise RuntimeError(
                f"Conversion function {convert!r} for type {base_type} returned incompatible dtype: requested = "
                f"{wanted.base_dtype.name}, actual = {result.dtype.name}"
            )
        return result
    raise TypeError(f"Cannot convert {value!r} with type {type(value)} to Tensor: no conversion function registered.")


def _pickled(tensor: EagerTensor) -> Any:
    """A value is pickled as an array, and becomes a tensor of the default graph again."""
    return convert_to_tensor, (tensor.numpy(), tensor.dtype)


copyreg.pickle(EagerTensor, _pickled)


def _checked_dtype(tensor: Tensor, wanted: DType | None) -> Tensor:
    if wanted is not None and not wanted.is_compatible_with(tensor.dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype {tensor.dtype.name}: {tensor!r}"
        )
    return tensor


def convert_n_to_tensor(
    values: Any, dtype: Any = None, name: str | None = None, preferred_dtype: Any = None, as_ref: bool = False
) -> list[Tensor]:
    """Each of `values` as a Tensor, named `name_0`, `name_1`, …"""
    if not isinstance(values, Sequence):
        raise TypeError("values must be a sequence.")
    return [
        convert_to_tensor(v, dtype, None if name is None else f"{name}_{i}", preferred_dtype, as_ref=as_ref)
        for i, v in enumerate(values)
    ]


def _from_python(value: Any, dtype: DType | None = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    return constant(value, dtype=dtype, name=name or "Const")


def _from_list(value: Any, dtype: DType | None = None, name: str | None = None, as_ref: bool = False) -> Any:
    """A list with tensors somewhere inside is packed; one without is a constant."""
    if not _has_tensor(value):
        return constant(value, dtype=dtype, name=name or "Const")
    found = _element_dtype(value)
    if dtype is not None and found is not dtype.base_dtype:
        value = _cast_tensors(value, dtype.base_dtype)
    return _pack(value, dtype or found, name or "packed")


def _has_tensor(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_has_tensor(v) for v in value)
    return isinstance(value, Tensor) or hasattr(value, "_as_graph_element")


def _element_dtype(value: Any) -> DType | None:
    if isinstance(value, (list, tuple)):
        return next((found for found in map(_element_dtype, value) if found is not None), None)
    return value.dtype.base_dtype if hasattr(value, "_as_graph_element") or isinstance(value, Tensor) else None


def _cast_tensors(value: Any, dtype: DType) -> Any:
    """A nested list with its tensors cast to that dtype: a list that is asked for in a dtype gets it."""
    if isinstance(value, (list, tuple)):
        return [_cast_tensors(item, dtype) for item in value]
    tensor = hasattr(value, "_as_graph_element") or isinstance(value, Tensor)
    return get_op("Cast")(value, DstT=dtype) if tensor and value.dtype.base_dtype is not dtype else value


def _pack(value: Any, dtype: DType | None, name: str) -> Tensor:
    graph = get_default_graph()
    with graph.name_scope(name) as scope:
        inner = [_packed_inside(item, dtype, str(i)) for i, item in enumerate(value)]
        for item in inner:
            found = None if isinstance(item, (list, tuple)) else _element_dtype(item)
            if dtype is not None and found not in (None, dtype.base_dtype):
                raise TypeError(
                    f"Cannot convert a list containing a tensor of dtype {found} to {dtype} (Tensor is: {item!r})"
                )
        elements = [convert_to_tensor(item, dtype=dtype, name=str(i)) for i, item in enumerate(inner)]
        attrs = {"N": len(elements), "T": elements[0].dtype.base_dtype, "axis": 0}
        return graph.add_node("Pack", elements, attrs, name=scope).outputs[0]


def _packed_inside(item: Any, dtype: DType | None, name: str) -> Any:
    """An inner list packed if there is a tensor in it; one without only takes the name, so that its constant has another."""
    if not isinstance(item, (list, tuple)):
        return item
    if _has_tensor(item):
        return _pack(item, dtype, name)
    with get_default_graph().name_scope(name):
        return item


def _from_dimension(value: Any, dtype: DType | None = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    if value.value is None:
        raise ValueError(f"Cannot convert an unknown Dimension to a Tensor: {value}")
    return constant(value.value, dtype=dtype or dtypes.int32, name=name or "shape_as_tensor")


def _from_shape(value: TensorShape, dtype: DType | None = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    if not value.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {value}")
    dims = value.as_list()
    if dtype is None:
        dtype = dtypes.int64 if any(d is not None and d > np.iinfo(np.int32).max for d in dims) else dtypes.int32
    elif dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype: {dtype}")
    return constant(dims, dtype=dtype, name=name or "shape_as_tensor")


def _from_operation(value: Operation, dtype: DType | None = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    raise TypeError(f"Can't convert Operation {value.name!r} to Tensor (did you mean one of its outputs?)")


register_tensor_conversion_function(Operation, _from_operation)
register_tensor_conversion_function(TensorShape, _from_shape)
register_tensor_conversion_function(Dimension, _from_dimension)
register_tensor_conversion_function((list, tuple), _from_list)
register_tensor_conversion_function(object, _from_python, priority=200)


class IndexedSlices:
    """A sparse gradient: `values[i]` belongs to row `indices[i]` of a tensor of shape `dense_shape`.

    values: [n, ...], indices: [n] integers, dense_shape: 1-D integers or None. An index may come more than once; its
    rows add up. Source: `tf.IndexedSlices`.
    """

    def __init__(self, values: Tensor, indices: Tensor, dense_shape: Tensor | None = None):
        self._values, self._indices, self._dense_shape = values, indices, dense_shape

    @property
    def values(self) -> Tensor:
        return self._values

    @property
    def indices(self) -> Tensor:
        return self._indices

    @property
    def dense_shape(self) -> Tensor | None:
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        from tfexp.graph.shape_inference import static_value_as_shape

        return TensorShape(None) if self._dense_shape is None else static_value_as_shape(self._dense_shape)

    def get_shape(self) -> TensorShape:
        return self.shape

    @property
    def name(self) -> str:
        return self._values.name

    @property
    def device(self) -> str:
        return self._values.device

    @property
    def op(self) -> Operation:
        return self._values.op

    @property
    def _control_input(self) -> Operation:
        """What `tf.control_dependencies` waits for."""
        return self._values.op

    @property
    def dtype(self) -> DType:
        return self._values.dtype

    @property
    def graph(self) -> Any:
        return self._values.graph

    def consumers(self) -> list[Operation]:
        """The ops that take the values. Source: `tf.IndexedSlices.consumers`."""
        return self._values.consumers()

    def __str__(self) -> str:
        shape = f", dense_shape={self._dense_shape!s}" if self._dense_shape is not None else ""
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{shape})"

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)


def convert_to_tensor_or_indexed_slices(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """`value` itself when it is a Tensor or IndexedSlices, else converted."""
    if isinstance(value, IndexedSlices):
        if dtype is not None and not as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(f"Tensor conversion requested dtype {as_dtype(dtype).name} for {value} of {value.dtype.name}")
        return value
    return convert_to_tensor(value, dtype=dtype, name=name)


def convert_n_to_tensor_or_indexed_slices(values: Sequence[Any], dtype: Any = None, name: str | None = None) -> list[Any]:
    """As `convert_to_tensor_or_indexed_slices`, for each; None stays None. Names are `name_0`, `name_1`, …"""
    return [
        None if v is None else convert_to_tensor_or_indexed_slices(v, dtype, None if name is None else f"{name}_{i}")
        for i, v in enumerate(values)
    ]
