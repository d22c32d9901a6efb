"""Rows of databases as data sets: `tf.data.experimental.SqlDataset`."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.data.dataset import Dataset
from tfexp.data.structure import Component, map_leaves, spec_of
from tfexp.graph.convert import convert_to_tensor
from tfexp.ops.dataset_sql import sql_dataset


class SqlDataset(Dataset):
    """The rows that a query gives, each a tuple of scalars.

    driver_name: "sqlite". data_source_name: the file of the database. output_types: what the columns are to be, of int8,
    int16, int32, int64, uint8, uint16, bool, float64 and string.
    """

    def __init__(self, driver_name: Any, data_source_name: Any, query: Any, output_types: Any):
        element = map_leaves(lambda dtype: Component(dtypes.as_dtype(dtype), TensorShape([])), output_types)
        inputs = {"driver_name": driver_name, "data_source_name": data_source_name, "query": query}
        tensors = [convert_to_tensor(value, dtypes.string, name=name) for name, value in inputs.items()]
        super().__init__(sql_dataset(*tensors, **spec_of(element)), element)
