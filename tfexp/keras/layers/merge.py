"""`tf.keras.layers`: several inputs as one, element by element, and side by side. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core.shape import TensorShape
from tfexp.keras import backend
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.engine.shapes import as_tuples
from tfexp.ops import elementwise_binary
from tfexp.ops.array import expand_dims, reshape, shape
from tfexp.ops.array_fill import ones_like
from tfexp.ops.array_join import concat
from tfexp.ops.array_order import transpose
from tfexp.ops.cast import cast
from tfexp.ops.reduce import reduce_prod

Shape = tuple[int | None, ...]


def broadcast(first: Shape | None, second: Shape | None) -> Shape | None:
    """The shape of two (without the batch's size) after broadcasting; None for an unknown one. ValueError if they differ."""
    if first is None or second is None:
        return None
    if len(first) < len(second):
        first, second = second, first
    ahead = len(first) - len(second)
    sizes = list(first[:ahead])
    for i, j in zip(first[ahead:], second, strict=True):
        if i is None or j is None:
            sizes.append(None)
        elif i == 1 or j == 1 or i == j:
            sizes.append(j if i == 1 else i)
        else:
            raise ValueError(f"Operands could not be broadcast together with shapes {first} {second}")
    return tuple(sizes)


class Merge(Layer):
    """A list of inputs as one output. Shapes may differ by broadcasting; where ranks do, sizes of 1 follow the batch's."""

    def __init__(self, **kwargs: Any):
        super().__init__(**kwargs)
        self.supports_masking = True

    def _merge_function(self, inputs: list[Any]) -> Any:
        """The output for inputs whose ranks are equal."""
        raise NotImplementedError(f"{type(self).__name__} does not say what becomes of its inputs")

    def build(self, input_shape: Any) -> None:
        shapes = as_tuples(input_shape)
        if not isinstance(shapes, list) or not isinstance(shapes[0], (tuple, type(None))):
            raise ValueError(
                f"A merge layer should be called on a list of inputs. Received: input_shape={shapes} (not a list of shapes)"
            )
        if len(shapes) < 2:
            raise ValueError(f"A merge layer should be called on a list of at least 2 inputs. Got {len(shapes)} inputs.")
        batches = {shape[0] for shape in shapes if shape} - {None}
        if len(batches) > 1:
            raise ValueError(f"Can not merge tensors with different batch sizes. Got tensors with shapes : {shapes}")
        self._merged(shapes)
        # Equal ranks broadcast as they are.
        self._is_reshaped = None in shapes or len({len(shape) for shape in shapes}) > 1
        self.built = True

    def _merged(self, shapes: list[Shape | None]) -> Shape | None:
        merged = None if shapes[0] is None else shapes[0][1:]
        for other in shapes[1:]:
            merged = broadcast(merged, None if other is None else other[1:])
        return merged

    def call(self, inputs: Any) -> Any:
        if not isinstance(inputs, list):
            raise ValueError(
                f"A merge layer should be called on a list of inputs. Received: inputs={inputs} (not a list of tensors)"
            )
        if not self._is_reshaped:
            return self._merge_function(inputs)
        ranks: list[Any] = [backend.ndim(x) for x in inputs]
        if None not in ranks:
            return self._merge_function([_with_rank(x, max(ranks)) for x in inputs])
        # Ranks that only the run knows broadcast once the batch comes last.
        return _batch_first(
            self._merge_function([_batch_last(x, rank) for x, rank in zip(inputs, ranks, strict=True)]), ranks
        )

    def compute_output_shape(self, input_shape: Any) -> Any:
        shapes = as_tuples(input_shape)
        merged = self._merged(shapes)
        batches = {shape[0] for shape in shapes if shape} - {None}
        batch = batches.pop() if len(batches) == 1 else None
        return TensorShape(None) if merged is None else TensorShape([batch, *merged])

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        masks = checked_masks(inputs, mask)
        if masks is None:
            return None
        return backend.all(concat([expand_dims(m, 0) for m in masks if m is not None], axis=0), axis=0, keepdims=False)


def checked_masks(inputs: Any, mask: Any) -> list[Any] | None:
    """The masks, one for each input; None for no masks. ValueError for anything else."""
    if mask is None:
        return None
    if not isinstance(mask, (tuple, list)):
        raise ValueError(f"`mask` should be a list. Received: mask={mask}")
    if not isinstance(inputs, (tuple, list)):
        raise ValueError(f"`inputs` should be a list. Received: inputs={inputs}")
    if len(mask) != len(inputs):
        raise ValueError(
            f"The lists `inputs` and `mask` should have the same length. Received: inputs={inputs} of length {len(inputs)}, "
            f"and mask={mask} of length {len(mask)}"
        )
    return None if all(m is None for m in mask) else list(mask)


def _with_rank(x: Any, rank: int) -> Any:
    for _ in range(rank - x.get_shape().ndims):
        x = expand_dims(x, 1)
    return x


def _batch_last(x: Any, rank: int | None) -> Any:
    if rank is not None:
        return transpose(x, [*range(1, rank), 0]) if rank > 1 else x
    dims: Any = shape(x)
    turned = transpose(reshape(x, [dims[0], reduce_prod(dims[1:])]))
    return reshape(turned, concat([dims[1:], dims[:1]], axis=0))


def _batch_first(y: Any, ranks: list[int | None]) -> Any:
    known = [rank for rank in ranks if rank is not None]
    rank = y.get_shape().ndims
    if rank is not None and known:
        return transpose(y, [rank - 1, *range(rank - 1)]) if rank > 1 else y
    dims: Any = shape(y)
    turned = transpose(reshape(y, [-1, dims[-1]]))
    return reshape(turned, concat([dims[-1:], dims[:-1]], axis=0))


class Add(Merge):
    """The sum."""

    def _merge_function(self, inputs: list[Any]) -> Any:
        return _folded(inputs, lambda x, y: x + y)


class Subtract(Merge):
    """The first of two inputs less the second."""

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        if len(input_shape) != 2:
            raise ValueError(
                f"A `Subtract` layer should be called on exactly 2 inputs. Received: input_shape={as_tuples(input_shape)}"
            )

    def _merge_function(self, inputs: list[Any]) -> Any:
        if len(inputs) != 2:
            raise ValueError(f"A `Subtract` layer should be called on exactly 2 inputs. Received: inputs={inputs}")
        return inputs[0] - inputs[1]


class Multiply(Merge):
    """The product."""

    def _merge_function(self, inputs: list[Any]) -> Any:
        return _folded(inputs, lambda x, y: x * y)


class Average(Merge):
    """The mean."""

    def _merge_function(self, inputs: list[Any]) -> Any:
        return _folded(inputs, lambda x, y: x + y) / len(inputs)


class Maximum(Merge):
    """The largest of each element."""

    def _merge_function(self, inputs: list[Any]) -> Any:
        return _folded(inputs, elementwise_binary.maximum)


class Minimum(Merge):
    """The smallest of each element."""

    def _merge_function(self, inputs: list[Any]) -> Any:
        return _folded(inputs, elementwise_binary.minimum)


def _folded(inputs: list[Any], function: Callable[[Any, Any], Any]) -> Any:
    output = inputs[0]
    for other in inputs[1:]:
        output = function(output, other)
    return output


class Concatenate(Merge):
    """The inputs side by side along `axis`; their other sizes are equal."""

    def __init__(self, axis: int = -1, **kwargs: Any):
        super().__init__(**kwargs)
        self.axis = axis

    def build(self, input_shape: Any) -> None:
        shapes = as_tuples(input_shape)
        if not isinstance(shapes, list) or len(shapes) < 2 or not isinstance(shapes[0], (tuple, type(None))):
            raise ValueError(
                f"A `Concatenate` layer should be called on a list of at least 2 inputs. Received: input_shape={shapes}"
            )
        if all(known is None for known in shapes):
            return
        others = set()
        for known in shapes:
            rest = list(known or ())
            del rest[self.axis]
            others.add(tuple(rest))
        if len(others) > 1:
            raise ValueError(
                "A `Concatenate` layer requires inputs with matching shapes except for the concat axis. "
                f"Got inputs shapes: {shapes}"
            )
        self.built = True

    def call(self, inputs: Any) -> Any:
        if not isinstance(inputs, list):
            raise ValueError(f"A merge layer should be called on a list of inputs. Received: inputs={inputs}")
        return backend.concatenate(inputs, axis=self.axis)

    def compute_output_shape(self, input_shape: Any) -> Any:
        shapes = as_tuples(input_shape)
        if not isinstance(shapes, list):
            raise ValueError(f"A `Concatenate` layer should be called on a list of inputs. Received: input_shape={shapes}")
        sizes = list(shapes[0])
        for other in shapes[1:]:
            known, more = sizes[self.axis], other[self.axis]
            sizes[self.axis] = None if known is None or more is None else known + more
        return TensorShape(sizes)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        masks = checked_masks(inputs, mask)
        if masks is None:
            return None
        spread = []
        for x, m in zip(inputs, masks, strict=True):
            if m is None:  # nothing of it is masked
                spread.append(cast(ones_like(x), "bool"))
            else:
                spread.append(expand_dims(m, axis=-1) if m.get_shape().ndims < x.get_shape().ndims else m)
        return backend.all(concat(spread, axis=self.axis), axis=-1, keepdims=False)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "axis": self.axis}


def add(inputs: list[Any], **kwargs: Any) -> Any:
    """The sum of tensors, by an `Add` layer."""
    return Add(**kwargs)(inputs)


def subtract(inputs: list[Any], **kwargs: Any) -> Any:
    """The first of two tensors less the second, by a `Subtract` layer."""
    return Subtract(**kwargs)(inputs)


def multiply(inputs: list[Any], **kwargs: Any) -> Any:
    """The product of tensors, by a `Multiply` layer."""
    return Multiply(**kwargs)(inputs)


def average(inputs: list[Any], **kwargs: Any) -> Any:
    """The mean of tensors, by an `Average` layer."""
    return Average(**kwargs)(inputs)


def maximum(inputs: list[Any], **kwargs: Any) -> Any:
    """The largest of each element, by a `Maximum` layer."""
    return Maximum(**kwargs)(inputs)


def minimum(inputs: list[Any], **kwargs: Any) -> Any:
    """The smallest of each element, by a `Minimum` layer."""
    return Minimum(**kwargs)(inputs)


def concatenate(inputs: list[Any], axis: int = -1, **kwargs: Any) -> Any:
    """Tensors side by side, by a `Concatenate` layer."""
    return Concatenate(axis=axis, **kwargs)(inputs)
