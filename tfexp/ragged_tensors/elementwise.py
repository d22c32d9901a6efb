"""Functions of each element, on ragged tensors: applied to the innermost values, the rows stay what they are."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import control_dependencies
from tfexp.ops import logical
from tfexp.ragged_tensors import rows
from tfexp.ragged_tensors.dynamic_shape import RaggedTensorDynamicShape, broadcast_dynamic_shape, broadcast_to
from tfexp.ragged_tensors.tensor import RaggedTensor, converted
from tfexp.ragged_tensors.value import RaggedTensorValue


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`op` of the innermost values of the ragged tensors among the arguments, whose rows must be the same.

    ValueError for ragged tensors of different ragged rank, InvalidArgumentError in the run for different rows.
    Source: `tf.ragged.map_flat_values`.
    """
    found: list[RaggedTensor] = []

    def flat(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(map(flat, value))
        if isinstance(value, (RaggedTensor, RaggedTensorValue)):
            ragged = converted(value)
            found.append(ragged)
            return ragged.flat_values
        return value

    args = tuple(map(flat, args))
    kwargs = {key: flat(value) for key, value in kwargs.items()}
    if not found:
        return op(*args, **kwargs)
    rows_of_one_type(*found)
    with control_dependencies(rows.same([each.nested_row_splits for each in found])):
        return found[0].with_flat_values(op(*args, **kwargs))


def broadcast(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`function` of two operands, one at least ragged, each repeated where it has a size of 1 and the other has not.

    ValueError for row splits of different types, InvalidArgumentError in the run for sizes that do not fit.
    """
    given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
    first, second = [key for key in given if key != "name"][:2]
    given[first], given[second] = _fitted(given[first], given[second])
    return map_flat_values(function, *[given[i] for i in range(len(args))], **{key: given[key] for key in kwargs})


def _fitted(x: Any, y: Any) -> tuple[Any, Any]:
    x, y = _operand(x, y), _operand(y, x)
    if not _to_be_repeated(x, y):
        return x, y
    x, y = rows_of_one_type(x, y)
    shape_x, shape_y = (RaggedTensorDynamicShape.from_tensor(operand) for operand in (x, y))
    shape = broadcast_dynamic_shape(shape_x, shape_y)
    x, y = (broadcast_to(operand, shape, broadcast_inner_dimensions=False) for operand in (x, y))
    return x, x.with_flat_values(y.flat_values)  # of the same rows now


def _operand(value: Any, other: Any) -> Any:
    if isinstance(value, (RaggedTensor, RaggedTensorValue)):
        return converted(value)
    return convert_to_tensor(value, preferred_dtype=getattr(other, "dtype", None))


def _to_be_repeated(x: Any, y: Any) -> bool:
    """Whether NumPy's rules for the flat values are not enough."""
    if isinstance(x, RaggedTensor) and isinstance(y, RaggedTensor):
        mine, theirs = x.shape, y.shape
        return mine.rank is None or (x.ragged_rank, mine.rank, mine[0].value) != (
            y.ragged_rank,
            theirs.rank,
            theirs[0].value,
        )
    ragged, dense = (x, y) if isinstance(x, RaggedTensor) else (y, x)
    flat, rank = ragged.flat_values.shape.rank, dense.shape.rank
    return flat is not None and rank is not None and rank >= flat


def rows_of_one_type(*values: Any) -> tuple[Any, ...]:
    """The values. ValueError unless all ragged ones among them have row splits of one type."""
    if len({value.row_splits.dtype for value in values if isinstance(value, RaggedTensor)}) > 1:
        raise ValueError(
            "Input RaggedTensors have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_dtype() to convert "
            "them to compatible dtypes."
        )
    return values


def _binary(function: Callable[[Any, Any], Any], swapped: bool = False) -> Callable[[Any, Any], Any]:
    def operate(x: Any, y: Any) -> Any:
        return broadcast(function, y, x) if swapped else broadcast(function, x, y)

    return operate


def _unary(x: RaggedTensor, function: Callable[[Any], Any]) -> Any:
    return map_flat_values(function, x)


def bind_operators() -> None:
    """Give ragged tensors the operators of tensors."""
    functions = {name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")}
    # Of booleans alone; a tensor's are bitwise for integers.
    functions.update({"and": logical.logical_and, "or": logical.logical_or, "xor": logical.logical_xor})
    for name, function in functions.items():
        setattr(RaggedTensor, f"__{name}__", _binary(function))
        setattr(RaggedTensor, f"__r{name}__", _binary(function, swapped=True))
    for name in ("lt", "le", "gt", "ge"):
        setattr(RaggedTensor, f"__{name}__", _binary(getattr(operator, name)))
    for name, function in {"neg": operator.neg, "abs": operator.abs, "invert": logical.logical_not}.items():
        setattr(RaggedTensor, f"__{name}__", functools.partialmethod(_unary, function))
