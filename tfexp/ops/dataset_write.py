"""Writing the elements of a data set to a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.op import define_op
from tfexp.core.shape import InputShape
from tfexp.formats.tfrecord import TFRecordOptions, TFRecordWriter
from tfexp.ops.dataset import Dataset

dataset_to_tf_record = define_op(
    "DatasetToTFRecord(input_dataset: variant, filename: string, compression_type: string) -> () #stateful"
)


@dataset_to_tf_record.shape
def _(dataset: InputShape, filename: InputShape, compression_type: InputShape) -> list[Any]:
    return []


@dataset_to_tf_record.kernel("CPU")
def _(ctx: Any, dataset: Dataset, filename: Any, compression_type: Any) -> list[Any]:
    options = TFRecordOptions(compression_type[()].decode())
    iterator = dataset.iterator()
    try:
        with TFRecordWriter(filename[()].decode("utf-8", "surrogateescape"), options) as writer:
            while (element := iterator.next()) is not None:
                writer.write(bytes(np.asarray(element[0], object)[()]))
    finally:
        iterator.close()
    return []
