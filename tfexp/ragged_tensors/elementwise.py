"""Functions of each element, on ragged tensors: applied to the innermost values, the rows stay what they are."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_gather, check_compare
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
    with control_dependencies(_same_rows(found)):
        return found[0].with_flat_values(op(*args, **kwargs))


def _same_rows(found: Sequence[RaggedTensor]) -> list[Any]:
    """Checks that all have the rows of the first."""
    first, checks = found[0].nested_row_splits, []
    for other in found[1:]:
        splits = other.nested_row_splits
        if len(splits) != len(first):
            raise ValueError("Inputs must have identical ragged splits")
        for mine, theirs in zip(first, splits, strict=True):
            if mine is not theirs:
                message = "Inputs must have identical ragged splits"
                checks.append(check_compare.assert_equal(mine, theirs, message=message))
    return checks


def applied(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`map_flat_values`, with tensors of the same shape, or of one value for each row, repeated to the ragged ones' rows."""
    ragged = next(a for a in [*args, *kwargs.values()] if isinstance(a, RaggedTensor) or _first(a) is not None)
    model = ragged if isinstance(ragged, RaggedTensor) else _first(ragged)
    assert model is not None
    return map_flat_values(function, *[_fitted(a, model) for a in args], **kwargs)


def _first(value: Any) -> RaggedTensor | None:
    if not isinstance(value, (list, tuple)):
        return None
    return next((element for element in value if isinstance(element, RaggedTensor)), None)


def _fitted(value: Any, model: RaggedTensor) -> Any:
    if not isinstance(value, Tensor):
        return value
    rank, whole = value.shape.rank, model.shape.rank
    if rank is None or rank == 0 or (whole is not None and rank <= whole - 1 - model.ragged_rank):
        return value  # what NumPy's rules repeat by themselves
    if rank == 2 and value.shape.as_list()[1] == 1 and model.ragged_rank == 1:
        return array_gather.gather(array.squeeze(value, [1]), model.value_rowids())
    return RaggedTensor.from_tensor(value, ragged_rank=model.ragged_rank, row_splits_dtype=model.row_splits.dtype)


def _binary(function: Callable[[Any, Any], Any], swapped: bool = False) -> Callable[[Any, Any], Any]:
    def operate(x: Any, y: Any) -> Any:
        if not isinstance(y, (RaggedTensor, RaggedTensorValue)):
            y = convert_to_tensor(y, x.dtype if not isinstance(y, Tensor) else None)
        y = converted(y) if isinstance(y, RaggedTensorValue) else y
        return applied(function, y, x) if swapped else applied(function, x, y)

    return operate


def _unary(x: RaggedTensor, function: Callable[[Any], Any]) -> Any:
    return map_flat_values(function, x)


def bind_operators() -> None:
    """Give ragged tensors the operators of tensors."""
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor"):
        function, method = getattr(operator, name), name.strip("_")
        setattr(RaggedTensor, f"__{method}__", _binary(function))
        setattr(RaggedTensor, f"__r{method}__", _binary(function, swapped=True))
    for name in ("lt", "le", "gt", "ge"):
        setattr(RaggedTensor, f"__{name}__", _binary(getattr(operator, name)))
    for name in ("neg", "abs", "invert"):
        setattr(RaggedTensor, f"__{name}__", functools.partialmethod(_unary, getattr(operator, name)))
