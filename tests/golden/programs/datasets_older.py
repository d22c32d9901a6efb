"""tf.data under the names that its nodes had in graphs of TensorFlow 1.13 to 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.datasets_elements import fetched
from tests.golden.programs.parsing import FIRST, SECOND
from tests.golden.programs.registry import Outcome, Run, program, runs

PEOPLE = "tests/golden/inputs/people"


def shown(tf: Any, variant: Any, *dtypes: Any, count: int = 3) -> Outcome:
    """The first elements of a variant, scalars or of unknown shapes."""
    spec = tuple(tf.TensorSpec(None, dtype) for dtype in dtypes)
    return fetched(tf, tf.data.experimental.from_variant(variant, spec), count)


def of(*dtypes: Any, shape: Any = None) -> dict[str, Any]:
    return {"output_types": list(dtypes), "output_shapes": [shape] * len(dtypes)}


@program("issue 4.1: nodes that say how a pipeline is to run")
def settings(tf: Any) -> Outcome:
    raw, numbers = tf.raw_ops, of(tf.int64, shape=[])
    data = raw.RangeDataset(start=np.int64(0), stop=np.int64(7), step=np.int64(3), **numbers)
    for prefix in ("", "Experimental"):
        threads, plain, pool = (
            getattr(raw, f"{prefix}{name}Dataset")
            for name in ("MaxIntraOpParallelism", "NonSerializable", "PrivateThreadPool")
        )
        data = threads(input_dataset=data, max_intra_op_parallelism=np.int64(1), **numbers)
        data = pool(input_dataset=plain(input_dataset=data, **numbers), num_threads=np.int64(2), **numbers)
    data = raw.OptimizeDataset(input_dataset=data, optimizations=["map_fusion"], **numbers)
    return shown(tf, raw.ModelDataset(input_dataset=data, **numbers), tf.int64)


@program("issue 4.1: data sets under their older names")
def sources(tf: Any) -> Outcome:
    raw, text = tf.raw_ops, of(tf.string, shape=[])
    rows = raw.ExperimentalSqlDataset(
        driver_name="sqlite", data_source_name=f"{PEOPLE}.sqlite", query="select name from people order by height", **text
    )
    lines = raw.ExperimentalCSVDataset(
        filenames=f"{PEOPLE}.csv", compression_type="", buffer_size=np.int64(1 << 20), header=True, field_delim=",",
        use_quote_delim=True, na_value="", select_cols=np.int64([0]), record_defaults=[tf.constant([""])],
        output_shapes=[[]],
    )  # fmt: skip
    mixed = raw.ExperimentalDirectedInterleaveDataset(
        selector_input_dataset=raw.TensorSliceDataset(components=[np.int64([1, 0, 0, 1])], output_shapes=[[]]),
        data_input_datasets=[rows, lines],
        **text,
    )
    mixed = raw.ExperimentalIgnoreErrorsDataset(input_dataset=mixed, **text)
    return shown(tf, raw.ExperimentalUniqueDataset(input_dataset=mixed, **text), tf.string, count=4)


@program("issue 4.1: batches under their older names")
def batches(tf: Any) -> Outcome:
    raw = tf.raw_ops
    slices = raw.TensorSliceDataset(components=[np.int64([[1, 2], [3, 4], [5, 6]])], output_shapes=[[2]])
    flat = raw.ExperimentalUnbatchDataset(input_dataset=slices, **of(tf.int64, shape=[]))
    cardinality = raw.ExperimentalDatasetCardinality(input_dataset=slices)
    examples = raw.BatchDatasetV2(
        input_dataset=raw.TensorSliceDataset(components=[[FIRST, SECOND]], output_shapes=[[]]),
        batch_size=np.int64(2),
        drop_remainder=False,
        **of(tf.string, shape=[None]),
    )
    parsed = raw.ExperimentalParseExampleDataset(
        input_dataset=examples, num_parallel_calls=np.int64(1), dense_defaults=[tf.constant([], tf.float32)], sparse_keys=[],
        dense_keys=["a"], sparse_types=[], dense_shapes=[[2]], output_types=[tf.float32], output_shapes=[[None, 2]],
    )  # fmt: skip
    single = raw.DatasetToSingleElement(dataset=parsed, **of(tf.float32, shape=[None, 2]))
    first = shown(tf, flat, tf.int64, count=5)
    return runs(*first.runs, Run([cardinality, *single]))
