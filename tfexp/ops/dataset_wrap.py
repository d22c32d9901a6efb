"""Nodes that hand a data set on as it is: with options, under another name, wrapped so that it can cross devices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.dataset import COMMON, Dataset, define_dataset

options_dataset = define_dataset(
    f"OptionsDataset(input_dataset: variant) -> (handle: variant) {{serialized_options: string; {COMMON}}}"
)
rewrite_dataset = define_dataset(
    "RewriteDataset(input_dataset: variant, rewrite_name: string) -> (handle: variant) {output_types: list(type) >= 1; "
    "output_shapes: list(shape) >= 1}"
)
wrap_dataset_variant = define_op("WrapDatasetVariant(input_handle: variant) -> (output_handle: variant)")
unwrap_dataset_variant = define_op("UnwrapDatasetVariant(input_handle: variant) -> (output_handle: variant)")
dataset_cardinality = define_op(
    "DatasetCardinality(input_dataset: variant) -> (cardinality: int64) {cardinality_options: string = ''}"
)


for _op in (wrap_dataset_variant, unwrap_dataset_variant, dataset_cardinality):

    @_op.shape
    def _(source: InputShape) -> TensorShape:
        return TensorShape([])


@wrap_dataset_variant.kernel("CPU")
@unwrap_dataset_variant.kernel("CPU")
@options_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset) -> Dataset:
    return dataset


@rewrite_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, rewrite_name: Any) -> Dataset:
    return dataset


@dataset_cardinality.kernel("CPU")
def _(ctx: Any, dataset: Dataset) -> Any:
    return np.int64(dataset.cardinality)
