"""Reducing a data set to one value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.dataset import Dataset, kept
from tfexp.ops.dataset_functions import with_arguments

_SIGNATURE = (
    "ReduceDataset(input_dataset: variant, initial_state: Tstate, other_arguments: Targuments) -> "
    "(components: output_types) {f: func; Tstate: list(type) >= 1; Targuments: list(type) >= 0; output_types: "
    "list(type) >= 1; output_shapes: list(shape) >= 1; use_inter_op_parallelism: bool = true; metadata: string = ''} "
    "#stateful"
)
reduce_dataset = define_op(_SIGNATURE).not_differentiable()


@reduce_dataset.shape
def _(
    dataset: InputShape, state: Sequence[InputShape], arguments: Sequence[InputShape], *, output_shapes: list[TensorShape]
) -> list[TensorShape]:
    return list(output_shapes)


@reduce_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, initial: Sequence[Any], arguments: Sequence[Any], *, f: Any) -> list[Any]:
    function = with_arguments(ctx, f, arguments)
    state: list[Any] = [kept(value) for value in initial]
    iterator = dataset.iterator()
    try:
        while (element := iterator.next()) is not None:
            state = list(function([*state, *element]))
    finally:
        iterator.close()
    return state
