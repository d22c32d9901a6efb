"""Data sets that may be made in several ways, all with the same elements. The first way is taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core.errors import InvalidArgumentError
from tfexp.ops.dataset import INFINITE, UNKNOWN, Dataset, define_dataset
from tfexp.ops.dataset_functions import with_arguments

_TYPES = "output_types: list(type) >= 1; output_shapes: list(shape) >= 1"

choose_fastest_dataset = define_dataset(
    f"ChooseFastestDataset(input_datasets: N * variant) -> (handle: variant) {{N: int >= 2; num_experiments: int; {_TYPES}}}"
)
choose_fastest_branch_dataset = define_dataset(
    "ChooseFastestBranchDataset(input_dataset: variant, ratio_numerator: int64, ratio_denominator: int64, other_arguments: "
    "Targuments) -> (handle: variant) {Targuments: list(type) >= 0; num_elements_per_branch: int >= 1; branches: list(func) "
    f">= 1; other_arguments_lengths: list(int) >= 1; {_TYPES}}}"
)


@choose_fastest_dataset.kernel("CPU")
def _(ctx: Any, datasets: Sequence[Dataset]) -> Dataset:
    expected = datasets[0].cardinality
    for number, dataset in enumerate(datasets):
        if UNKNOWN not in (expected, dataset.cardinality) and dataset.cardinality != expected:
            raise InvalidArgumentError(
                None,
                None,
                "All inputs to ChooseFastestDataset must have compatible cardinalities. "
                f"Input {number} has cardinality: {_text(dataset.cardinality)}, while all prior inputs have cardinality: "
                f"{_text(expected)}.",
            )
        expected = dataset.cardinality if expected == UNKNOWN else expected
    return datasets[0]


def _text(cardinality: int) -> str:
    return "infinite" if cardinality == INFINITE else str(cardinality)


@choose_fastest_branch_dataset.kernel("CPU")
def _(
    ctx: Any,
    dataset: Dataset,
    ratio_numerator: Any,
    ratio_denominator: Any,
    arguments: Sequence[Any],
    *,
    branches: Sequence[Any],
    other_arguments_lengths: Sequence[int],
) -> Dataset:
    made: Dataset = with_arguments(ctx, branches[0], arguments[: other_arguments_lengths[0]])([dataset])[0]
    return made
