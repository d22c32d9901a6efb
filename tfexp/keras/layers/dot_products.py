"""`tf.keras.layers.Dot`. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core.shape import TensorShape
from tfexp.keras import backend
from tfexp.keras.engine.shapes import as_tuples
from tfexp.keras.layers.merge import Merge
from tfexp.ops.nn_norm import l2_normalize


class Dot(Merge):
    """The products of the examples of two tensors, summed along `axes`: one for both, or one each.

    normalize: first each is scaled to a norm of 1 along its axis, so that the products are cosines.
    """

    def __init__(self, axes: Any, normalize: bool = False, **kwargs: Any):
        super().__init__(**kwargs)
        if not isinstance(axes, int):
            if not isinstance(axes, (list, tuple)):
                raise TypeError(f"Invalid type for `axes` - should be a list or an int. Received: {axes}")
            if len(axes) != 2:
                raise ValueError(f"Invalid format for `axes` - should contain two elements. Received: {axes}")
            if not all(isinstance(axis, int) for axis in axes):
                raise ValueError(f'Invalid format for `axes` - list elements should be "int". Received: {axes}')
        self.axes, self.normalize = axes, normalize

    def build(self, input_shape: Any) -> None:
        first, second = self._two(input_shape)
        if first is None or second is None:
            return
        i, j = self._positive(len(first), len(second))
        if first[i] != second[j]:
            raise ValueError(f"Dimension incompatibility {first[i]} != {second[j]}. Layer shapes: {first}, {second}")
        self.built = True

    def _two(self, input_shape: Any) -> list[Any]:
        shapes = as_tuples(input_shape)
        if not isinstance(shapes, list) or len(shapes) != 2:
            raise ValueError(f"A `Dot` layer should be called on a list of 2 inputs. Received: input_shape={shapes}")
        return shapes

    def _positive(self, *ranks: int) -> list[int]:
        axes = [self.axes] * 2 if isinstance(self.axes, int) else self.axes
        return [axis % rank if axis < 0 else axis for axis, rank in zip(axes, ranks, strict=True)]

    def _merge_function(self, inputs: list[Any]) -> Any:
        if len(inputs) != 2:
            raise ValueError(f"A `Dot` layer should be called on exactly 2 inputs. Received: inputs={inputs}")
        axes = self._positive(*(x.get_shape().ndims for x in inputs))
        if self.normalize:
            inputs = [l2_normalize(x, axis=axis) for x, axis in zip(inputs, axes, strict=True)]
        return backend.batch_dot(inputs[0], inputs[1], axes)

    def call(self, inputs: Any) -> Any:
        if not isinstance(inputs, (list, tuple)):
            raise ValueError(f"A merge layer should be called on a list of inputs. Received: inputs={inputs}")
        return self._merge_function(list(inputs))

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        first, second = self._two(input_shape)
        i, j = self._positive(len(first), len(second))
        kept = [size for axis, size in enumerate(first) if axis != i]
        kept += [size for axis, size in enumerate(second) if axis not in (0, j)]
        return TensorShape(kept if len(kept) > 1 else [*kept, 1])

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return None

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "axes": self.axes, "normalize": self.normalize}


def dot(inputs: list[Any], axes: Any, normalize: bool = False, **kwargs: Any) -> Any:
    """The products of the examples of two tensors, by a `Dot` layer."""
    return Dot(axes=axes, normalize=normalize, **kwargs)(inputs)
