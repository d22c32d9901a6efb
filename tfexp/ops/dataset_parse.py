"""Data sets of batches of serialized Examples, parsed: `tf.data.experimental.parse_example_dataset`'s node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.shape import TensorShape
from tfexp.formats.example_template import Templates
from tfexp.ops.dataset import Dataset, Element, FromRecipe, define_dataset, kept
from tfexp.ops.dataset_map import UnderWay
from tfexp.ops.parse_example import parse_examples
from tfexp.ops.sparse_batches import Parts
from tfexp.ops.sparse_serial import store
from tfexp.ops.string_arrays import attr_bytes

_ARGUMENTS = "(input_dataset: variant, num_parallel_calls: int64, dense_defaults: Tdense) -> (handle: variant)"
_KEYS = (
    "{sparse_keys: list(string) >= 0; dense_keys: list(string) >= 0; sparse_types: list(type) in [float,int64,string] >= 0; "
    "Tdense: list(type) in [float,int64,string] >= 0; dense_shapes: list(shape) >= 0; output_types: list(type) >= 1; "
    "output_shapes: list(shape) >= 1; "
)
_RAGGED = (
    "ragged_keys: list(string) >= 0 = []; ragged_value_types: list(type) in [float,int64,string] >= 0 = []; "
    "ragged_split_types: list(type) in [int32,int64] >= 0 = []}"
)
parse_example_dataset = define_dataset(f"ParseExampleDataset{_ARGUMENTS} {_KEYS}sloppy: bool = false; {_RAGGED}")
parse_example_dataset_v2 = define_dataset(
    f"ParseExampleDatasetV2{_ARGUMENTS} {_KEYS}deterministic: string = 'default'; {_RAGGED}"
)


@parse_example_dataset.kernel("CPU")
@parse_example_dataset_v2.kernel("CPU")
def _(
    ctx: Any,
    dataset: Dataset,
    num_parallel_calls: Any,
    dense_defaults: Sequence[Any],
    *,
    sparse_keys: Sequence[bytes | str],
    dense_keys: Sequence[bytes | str],
    sparse_types: Sequence[DType],
    Tdense: Sequence[DType],
    dense_shapes: Sequence[TensorShape],
) -> Dataset:
    """The components come in the order of the keys; a sparse one as its three tensors in one variant."""
    calls = int(num_parallel_calls)
    if calls < -1 or calls == 0:
        raise InvalidArgumentError(None, None, "num_parallel_calls must be greater than zero.")
    sparse = list(zip(map(attr_bytes, sparse_keys), sparse_types, strict=True))
    dense = list(zip(map(attr_bytes, dense_keys), Tdense, strict=True))
    defaults = [kept(default) for default in dense_defaults]
    order = np.argsort([key for key, _ in [*sparse, *dense]], kind="stable")
    count, templates = len(sparse), Templates()

    def parse(element: Element) -> Element:
        parsed = parse_examples(element[0], np.empty(0, object), sparse, dense, [], defaults, dense_shapes, templates)
        variants = [
            store([Parts(parsed[i], parsed[count + i], parsed[2 * count + i])], dtypes.string, dtypes.variant)[0]
            for i in range(count)
        ]
        columns = [*variants, *parsed[3 * count :]]
        return [columns[i] for i in order]

    return FromRecipe(lambda source: UnderWay(source.iterator(), parse, calls), dataset, cardinality=dataset.cardinality)
