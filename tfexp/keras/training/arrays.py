"""What a user gave as inputs, targets and weights: lists of arrays in the model's order, of the shapes that it takes.

Source: the checks of `tf.keras.Model.fit`, TF 1.15, with its messages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfexp.core.nest import Composite
from tfexp.graph.eager_tensor import EagerTensor
from tfexp.graph.sparse_tensor import SparseTensor, SparseTensorValue
from tfexp.graph.tensor import Tensor
from tfexp.keras import backend
from tfexp.keras.training.outputs import Output
from tfexp.ops.array import expand_dims
from tfexp.ops.variable_base import Variable
from tfexp.ragged_tensors.tensor import converted
from tfexp.ragged_tensors.value import RaggedTensorValue

Shape = tuple[int | None, ...]


def is_symbolic(value: Any) -> bool:
    """Whether it is a tensor of a graph, whose value a session has to compute."""
    first = value.parts[0] if isinstance(value, Composite) else value
    return isinstance(first, (Tensor, Variable)) and not isinstance(first, EagerTensor)


def is_composite_value(value: Any) -> bool:
    """Whether it is the value of a sparse or a ragged tensor, which is no array and no list of them."""
    return isinstance(value, (SparseTensorValue, RaggedTensorValue))


def as_value(tensor: Any) -> Any:
    """What a tensor of eager execution, or a sparse or ragged one, holds: an array, or such a value."""
    if isinstance(tensor, Composite):
        return tensor.fetched([part.numpy() for part in tensor.parts])
    return tensor.numpy()


def as_tensor(value: Any) -> Any:
    """The tensor of an array, or of a sparse or ragged value."""
    return SparseTensor.from_value(value) if isinstance(value, SparseTensorValue) else converted(value)


def in_order(data: Any, names: Sequence[str], what: str, shapes: Sequence[Shape | None] | None = None) -> list[Any]:
    """The arrays of `names`; None for each where nothing is given. what: 'input' or 'target', for messages.

    A dictionary is looked up by name; a list of numbers is one array. Arrays without a second dimension get one, unless
    their shape, if it is known, has none. Raises ValueError for a name without data and for another number of arrays.
    """
    if data is None:
        return [None] * len(names)
    if not names:
        if _is_empty(data):
            return []
        raise ValueError(f"Error when checking model {what}: expected no data, but got: {data}")
    if isinstance(data, Mapping):
        missing = [name for name in names if name not in data]
        if missing:
            raise ValueError(f'No data provided for "{missing[0]}". Need data for each key in: {list(names)}')
        values = [data[name] for name in names]
    elif isinstance(data, (list, tuple)) and not is_composite_value(data):
        if data and isinstance(data[0], (list, tuple)) and not is_composite_value(data[0]):
            values = [np.asarray(value) for value in data]
        elif len(names) == 1 and data and isinstance(data[0], (int, float)):
            values = [np.asarray(data)]
        else:
            values = list(data)
    else:
        values = [data]
    values = [_as_array(value, what) for value in values]
    if len(values) != len(names):
        raise ValueError(
            f"Error when checking model {what}: the list of Numpy arrays that you are passing to your model is not the size "
            f"the model expected. Expected to see {len(names)} array(s), for inputs {list(names)} but instead got the "
            f"following list of {len(values)} arrays: {str(values)[:200]}..."
        )
    known = shapes or [None] * len(names)
    return [
        value if shape is not None and len(shape) == 1 else _at_least_2d(value)
        for value, shape in zip(values, known, strict=True)
    ]


def check_shapes(values: Sequence[Any], names: Sequence[str], shapes: Sequence[Shape | None], what: str) -> None:
    """ValueError for an array that does not fit its input; batch sizes are not looked at. None as a shape takes all."""
    for value, name, shape in zip(values, names, shapes, strict=True):
        if value is None or shape is None or (is_symbolic(value) and value.shape.ndims is None):
            continue
        got = known_shape(value)
        if len(got) != len(shape):
            raise ValueError(
                f"Error when checking {what}: expected {name} to have {len(shape)} dimensions, but got array with shape "
                f"{got}"
            )
        if any(d is not None and g is not None and d != g for d, g in zip(shape[1:], got[1:], strict=True)):
            raise ValueError(
                f"Error when checking {what}: expected {name} to have shape {tuple(shape[1:])} but got array with shape "
                f"{got[1:]}"
            )


def check_lengths(inputs: Sequence[Any], targets: Sequence[Any], weights: Sequence[Any]) -> None:
    """ValueError unless all arrays have the same number of samples."""
    lengths = []
    for values, name in ((inputs, "x"), (targets, "y"), (weights, "sample_weight")):
        arrays = [value for value in values if value is not None and not is_symbolic(value)]
        shapes = [known_shape(array) for array in arrays]
        sizes = {int(shape[0]) for shape in shapes}  # type: ignore[arg-type]
        if len(sizes) > 1:
            kind = {"x": "input", "y": "target", "sample_weight": "sample_weight"}[name]
            raise ValueError(
                f"All {kind} arrays ({name}) should have the same number of samples. Got array shapes: {shapes}"
            )
        lengths.append(sizes)
    for other, name in ((lengths[1], "target arrays"), (lengths[2], "sample_weight arrays")):
        if lengths[0] and other and lengths[0] != other:
            raise ValueError(
                f"Input arrays should have the same number of samples as {name}. Found {min(lengths[0])} input samples and "
                f"{min(other)} target samples."
            )


def check_targets(targets: Sequence[Any], outputs: Sequence[Output]) -> None:
    """ValueError for targets whose shape their loss would not take as meant."""
    for target, output in zip(targets, outputs, strict=True):
        if target is None or is_symbolic(target) or output.loss is None:
            continue
        shape, loss_name = tuple(target.shape), output.loss_function_name
        if loss_name == "categorical_crossentropy" and shape[-1] == 1:
            raise ValueError(
                f"You are passing a target array of shape {shape} while using as loss `categorical_crossentropy`. "
                "`categorical_crossentropy` expects targets to be binary matrices (1s and 0s) of shape (samples, "
                "classes). If your targets are integer classes, you can convert them to the expected format via:\n```\nfrom "
                "keras.utils import to_categorical\ny_binary = to_categorical(y_int)\n```\n\nAlternatively, you can use the "
                "loss function `sparse_categorical_crossentropy` instead, which does expect integer targets."
            )
        expected = output.target_shape
        if (
            expected is not None
            and loss_name in {"mean_squared_error", "binary_crossentropy", "categorical_crossentropy"}
            and any(d is not None and d != got for d, got in zip(expected[1:], shape[1:], strict=False))
        ):
            raise ValueError(
                f"A target array with shape {shape} was passed for an output of shape {expected} while using as loss "
                f"`{loss_name}`. This loss expects targets to have the same shape as the output."
            )


def as_fed(value: Any, dtype: Any, sparse: bool = False) -> Any:
    """Floats of another size as the tensor's, once rather than each time a part is fed; anything else as it is.

    sparse: whether matrices of SciPy are taken as such.
    """
    if is_sparse_matrix(value) and not sparse:
        return Densified(value)
    if isinstance(value, np.ndarray) and dtype.is_floating and value.dtype.kind == "f":
        return value.astype(dtype.as_numpy_dtype, copy=False)
    return value


def is_sparse_matrix(value: Any) -> bool:
    """Whether it is one of SciPy's."""
    return hasattr(value, "tocoo") and not isinstance(value, np.ndarray)


class Densified:
    """A matrix of SciPy's for an input that takes arrays: its rows become these when they are asked for."""

    def __init__(self, matrix: Any):
        self._matrix = matrix.tocsr()
        self.shape, self.dtype = self._matrix.shape, self._matrix.dtype

    def __getitem__(self, which: slice) -> Densified:
        return Densified(self._matrix[which])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.asarray(self._matrix.toarray(), dtype=dtype)

    def rows(self, which: Any) -> np.ndarray[Any, Any]:
        """The rows at these places as an array."""
        return np.asarray(self._matrix[which].toarray())


def known_shape(value: Any) -> tuple[int | None, ...]:
    """The shape of an array, a composite value or a tensor; None for sizes that are not known, or differ by row."""
    if isinstance(value, SparseTensorValue):
        return tuple(int(size) for size in value.dense_shape)
    return tuple(value.shape.as_list()) if is_symbolic(value) else tuple(value.shape)


def _is_empty(data: Any) -> bool:
    return isinstance(data, (list, tuple, Mapping)) and not data


def _as_array(value: Any, what: str) -> Any:
    if value is None or is_symbolic(value) or is_sparse_matrix(value) or is_composite_value(value):
        return value
    if isinstance(value, (EagerTensor, Composite)):
        return as_value(value)
    if type(value).__module__.partition(".")[0] == "pandas":
        return np.asarray(value.values)
    if isinstance(value, (int, float, list, tuple)):
        return np.asarray(value)
    if not hasattr(value, "shape"):
        raise ValueError(
            f"Error when checking model {what}: data should be NumPy arrays, or lists or dictionaries of them; got "
            f"{value!r} of {type(value)}"
        )
    return value


def _at_least_2d(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.ndim < 2:
        return value.reshape(-1, 1)
    if isinstance(value, Tensor) and value.shape.ndims == 1:
        return expand_dims(value, axis=1)
    return value


def dense_floats(value: Any) -> Any:
    """An array of weights in Keras's float type."""
    return np.asarray(value, dtype=backend.floatx())
