"""Optional values: an element of a data set, or the fact that there is none any more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError, OutOfRangeError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.dataset import OptionalValue, kept
from tfexp.ops.iterator import IteratorResource

_TYPES = "output_types: list(type) >= 1; output_shapes: list(shape) >= 1"
optional_from_value = define_op(
    "OptionalFromValue(components: Toutput_types) -> (optional: variant) {Toutput_types: list(type) >= 1}"
)
optional_none = define_op("OptionalNone() -> (optional: variant)")
optional_has_value = define_op("OptionalHasValue(optional: variant) -> (has_value: bool)")
optional_get_value = define_op(f"OptionalGetValue(optional: variant) -> (components: output_types) {{{_TYPES}}}")
iterator_get_next_as_optional = define_op(
    f"IteratorGetNextAsOptional(iterator: resource) -> (optional: variant) {{{_TYPES}}} #stateful"
)


@optional_from_value.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    types, shapes = [x.dtype for x in op.inputs], [x.shape for x in op.inputs]
    return list(optional_get_value(grad, output_types=types, output_shapes=shapes))


@optional_get_value.gradient
def _(op: Operation, *grads: Tensor) -> Tensor:
    result: Tensor = optional_from_value(list(grads))
    return result


@optional_none.shape
def _() -> TensorShape:
    return TensorShape([])


for _op in (optional_from_value, optional_has_value, iterator_get_next_as_optional):

    @_op.shape
    def _(source: InputShape | Sequence[InputShape]) -> TensorShape:
        return TensorShape([])


@optional_get_value.shape
def _(optional: InputShape, *, output_shapes: list[TensorShape]) -> list[TensorShape]:
    return list(output_shapes)


@optional_from_value.kernel("CPU")
def _(ctx: Any, components: Sequence[Any]) -> OptionalValue:
    return OptionalValue([kept(value) for value in components])


@optional_none.kernel("CPU")
def _(ctx: Any) -> OptionalValue:
    return OptionalValue(None)


@optional_has_value.kernel("CPU")
def _(ctx: Any, optional: OptionalValue) -> Any:
    return np.bool_(optional.element is not None)


@optional_get_value.kernel("CPU")
def _(ctx: Any, optional: OptionalValue) -> list[Any]:
    if optional.element is None:
        raise InvalidArgumentError(None, None, "The given optional does not have a value.")
    return [value[...] if isinstance(value, np.ndarray) else value for value in optional.element]


@iterator_get_next_as_optional.kernel("CPU")
def _(ctx: Any, iterator: IteratorResource) -> OptionalValue:
    try:
        return OptionalValue(iterator.next(ctx))
    except OutOfRangeError:
        return OptionalValue(None)
