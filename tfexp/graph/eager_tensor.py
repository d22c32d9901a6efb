"""`EagerTensor`: a tensor that holds its value, and `EagerOperation`, what made it. Source: eager execution, TF 1.15."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.kernel import Ref
from tfexp.core.op import Op, get_op
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"

_ids = itertools.count(1)


def meaningless(attribute: str) -> Any:
    """A property that tensors and variables of a graph have, and those of eager execution have not."""

    def refuse(value: Any) -> Any:
        raise AttributeError(f"Tensor.{attribute} is meaningless when eager execution is enabled.")

    return property(refuse)


class EagerTensor(Tensor):
    """A value: `t.numpy()`. It also converts to NumPy, to Python numbers and bools, and iterates over its first dimension.

    As in TensorFlow, it has no `op`, `name`, `value_index` and `graph`. Gradient rules look at `_op`, what made the tensor;
    `_graph` is that of eager execution.
    """

    __slots__ = ("_graph", "_id", "_known_shape", "_producer", "_value")

    def __init__(self, value: Any, dtype: DType, world: Any):
        """`value`: as kernels hand it out. `world`: the graph of eager execution."""
        self._value = value
        self._dtype = dtype
        self._graph = world  # type: ignore[misc]
        self._producer: EagerOperation | None = None  # without its outputs: else they would keep each other alive
        self._known_shape: TensorShape | None = None

    # --- what a Tensor of a graph has ----------------------------------------------------------------------------

    @property
    def _op(self) -> Operation:  # type: ignore[override]
        made = self._producer
        if made is None:
            return EagerOperation(self._graph, get_op("Const"), "Const", (), {"dtype": self._dtype}, [self])
        return EagerOperation(self._graph, made._op_def, made._name, made._inputs, made._attrs, [self])

    @property
    def _value_index(self) -> int:  # type: ignore[override]
        return 0

    @property
    def _consumers(self) -> list[Operation]:  # type: ignore[override]
        return []

    op = meaningless("op")
    name = meaningless("name")
    value_index = meaningless("value_index")
    graph = meaningless("graph")

    @property
    def device(self) -> str:
        return DEVICE

    @property
    def backing_device(self) -> str:
        """The device whose memory holds the value."""
        return DEVICE

    @property
    def _shape(self) -> TensorShape:
        if self._known_shape is not None:
            return self._known_shape
        value = self._value
        if isinstance(value, Ref):
            if value.by_handle:
                return TensorShape([])
            return value.shape if value.value is None else TensorShape(value.value.shape)
        self._known_shape = TensorShape(getattr(value, "shape", ()))
        return self._known_shape

    @_shape.setter
    def _shape(self, shape: TensorShape) -> None:
        """The value has the shape that it has."""

    @property
    def shape(self) -> TensorShape:
        return self._shape

    def get_shape(self) -> TensorShape:
        return self._shape

    def set_shape(self, shape: Any) -> None:
        """ValueError unless the value has such a shape."""
        if not self._shape.is_compatible_with(as_shape(shape)):
            raise ValueError(f"Tensor's shape {self._shape} is not compatible with supplied shape {shape}")

    @property
    def _static_value(self) -> Any:
        """Its value is known wherever a graph's would have to be constant."""
        value = self._value
        return np.asarray(value) if isinstance(value, (np.ndarray, np.generic)) else None

    @_static_value.setter
    def _static_value(self, value: Any) -> None:
        """It is known already."""

    def consumers(self) -> list[Operation]:
        raise NotImplementedError("Tensor.consumers is meaningless when eager execution is enabled.")

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        raise NotImplementedError(
            "eval is not supported when eager execution is enabled, is .numpy() what you're looking for?"
        )

    # --- the value -----------------------------------------------------------------------------------------------

    def numpy(self) -> Any:
        """A copy of the value: an array, or a NumPy scalar (bytes for a string) where there are no dimensions."""
        value = _array(self)
        if value.ndim:
            return value.copy()
        return value[()]

    @property
    def ndim(self) -> int:
        return int(_array(self).ndim)

    def cpu(self) -> EagerTensor:
        return self

    def gpu(self, gpu_index: int = 0) -> EagerTensor:
        raise RuntimeError(f"GPU:{gpu_index} unknown device.")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        value = _array(self)
        return np.array(value, dtype=dtype, copy=True) if copy is not False else np.asarray(value, dtype=dtype)

    def __bool__(self) -> bool:
        value = _array(self)
        return bool(value) if value.size else False

    def __int__(self) -> int:
        return int(_single(self))

    def __float__(self) -> float:
        return float(_single(self))

    def __complex__(self) -> complex:
        return complex(_single(self))

    def __index__(self) -> int:
        return _array(self)[()].__index__()

    def __len__(self) -> int:
        if not self._shape.rank:
            raise TypeError("Scalar tensor has no `len()`")
        return int(self._shape.as_list()[0])  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Any]:
        if not self._shape.rank:
            raise TypeError("Cannot iterate over a scalar tensor.")
        for i in range(len(self)):
            yield self[i]

    def __format__(self, spec: str) -> str:
        return format(_array(self)[()], spec)

    def __copy__(self) -> EagerTensor:
        return self

    def __deepcopy__(self, memo: Any) -> EagerTensor:
        return self

    def __str__(self) -> str:
        return f"tf.Tensor({self._shown(str)}, shape={self._shape}, dtype={self._dtype.name})"

    def __repr__(self) -> str:
        if not hasattr(self, "_id"):
            self._id = next(_ids)
        return f"<tf.Tensor: id={self._id}, shape={self._shape}, dtype={self._dtype.name}, numpy={self._shown(repr)}>"

    def _shown(self, form: Any) -> str:
        """A handle's value is the variable's to show."""
        return "<unprintable>" if self._dtype is dtypes.resource else value_as_text(self, form)


def _array(tensor: EagerTensor) -> Any:
    value = tensor._value
    if isinstance(value, Ref):
        value = value.value
    if not isinstance(value, (np.ndarray, np.generic)):
        raise NotImplementedError(f"A value of type {tensor.dtype.name} is no array")
    return np.asarray(value)


def _single(tensor: EagerTensor) -> Any:
    """The only element. TypeError where there are none, or several."""
    value = _array(tensor)
    if value.size != 1:
        raise TypeError("only size-1 arrays can be converted to Python scalars")
    return value.item()


def value_as_text(tensor: Any, form: Any) -> str:
    """The value, a handle's included, by `str` or `repr`; one of several lines starts below."""
    value = tensor._value.value if isinstance(tensor._value, Ref) else tensor._value
    if not isinstance(value, (np.ndarray, np.generic)):
        return "<unprintable>"
    array = np.asarray(value)
    if not array.ndim:
        # As NumPy's repr was for scalars before it named their types.
        return repr(array[()]) if tensor.dtype is dtypes.string else str(array[()])
    text: str = form(array)
    return f"\n{text}" if "\n" in text else text


class EagerOperation(Operation):
    """An op that has run: what gradient rules ask of a node."""

    __slots__ = ()

    def __init__(
        self, world: Any, op_def: Op, name: str, inputs: Sequence[Tensor], attrs: dict[str, Any], outputs: list[Any]
    ):
        self._graph = world
        self._op_def = op_def
        self._name = name
        self._id = 0
        self._inputs = list(inputs)
        self._control_inputs: list[Operation] = []
        self._control_outputs: list[Operation] = []
        self._attrs = attrs
        self._device = ""
        self._control_flow_context = None
        self._stack = ()
        self._outputs = outputs

    def without_outputs(self) -> EagerOperation:
        return EagerOperation(self._graph, self._op_def, self._name, self._inputs, self._attrs, [])

    @property
    def device(self) -> str:
        return DEVICE

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        raise NotImplementedError("run is not supported when eager execution is enabled: the operation has run")
