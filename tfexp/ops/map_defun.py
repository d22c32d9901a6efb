"""A function of the graph's library called for each slice of its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.dataset_batch import stack
from tfexp.ops.dataset_functions import rows, with_arguments

map_defun = define_op(
    "MapDefun(arguments: Targuments, captured_inputs: Tcaptured) -> (output: output_types) {Targuments: list(type) >= 1; "
    "Tcaptured: list(type) >= 0 = []; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; f: func; "
    "max_intra_op_parallelism: int = 1}"
).not_differentiable()


@map_defun.shape
def _(
    arguments: Sequence[InputShape], captured_inputs: Sequence[InputShape], *, output_shapes: list[TensorShape]
) -> list[TensorShape]:
    count = TensorShape(None)[:1]
    for given in arguments:
        shape = TensorShape(given)
        if shape.rank == 0:
            raise ValueError("MapDefun wants arguments of rank 1 and more: it maps the slices along their first axis")
        count = count.merge_with(shape[:1])
    return [count.concatenate(shape) for shape in output_shapes]


@map_defun.kernel("CPU")
def _(
    ctx: Any,
    arguments: Sequence[Any],
    captured: Sequence[Any],
    *,
    f: Any,
    output_shapes: list[TensorShape],
    output_types: list[DType],
    Targuments: list[DType],
    Tcaptured: list[DType],
) -> list[np.ndarray]:
    count = len(arguments[0])
    for number, array in enumerate(arguments):
        if len(array) != count:
            raise InvalidArgumentError(
                None,
                None,
                f"All inputs must have the same dimension 0. Input {number} has leading dimension {len(array)}, while all "
                f"previous inputs have leading dimension {count}",
            )
    function = with_arguments(ctx, f, captured)
    _check("inputs", function.graph_function.inputs, [*Targuments, *Tcaptured])
    _check("outputs", function.graph_function.outputs, output_types)
    if len(output_types) != len(output_shapes):
        raise InvalidArgumentError(None, None, f"MapDefun has {len(output_types)} types and {len(output_shapes)} shapes")
    if count == 0:
        return [
            np.empty([0, *(size or 0 for size in shape.as_list())], dtype.as_numpy_dtype)
            for shape, dtype in zip(output_shapes, output_types, strict=True)
        ]
    found, failure = function.each(list(rows(arguments)))
    if failure is not None:
        raise failure
    columns = list(zip(*found, strict=True))
    for column, expected in zip(columns, output_shapes, strict=True):
        known = expected if expected.is_fully_defined() else TensorShape(np.shape(column[0]))
        for value in column:
            if not known.is_compatible_with(np.shape(value)):
                raise InvalidArgumentError(
                    None,
                    None,
                    f"Mismatch in function retval shape, {list(np.shape(value))}, and expected output shape, "
                    f"{known.as_list()}.",
                )
    return [stack(column) for column in columns]


def _check(what: str, own: Sequence[Any], given: Sequence[DType]) -> None:
    """InvalidArgumentError unless the function's inputs, or outputs, are of the node's types."""
    types = [tensor.dtype for tensor in own]
    if types != list(given):
        of_function, of_node = (", ".join(dtype.name for dtype in each) for each in (types, given))
        raise InvalidArgumentError(None, None, f"The function's {what} are of types ({of_function}), MapDefun's ({of_node})")
