"""`tf.contrib.slim.dataset_data_provider`: the items of one example after another, read by several readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfexp.contributed.slim_data.data_provider import DataProvider
from tfexp.contributed.slim_data.dataset import Dataset
from tfexp.contributed.slim_data.parallel_reader import parallel_read


class DatasetDataProvider(DataProvider):
    """Reads and decodes the examples of a Dataset; the key of each record is the item `record_key`, too.

    ValueError where an item of the decoder has that name.
    """

    def __init__(
        self,
        dataset: Dataset,
        num_readers: int = 1,
        reader_kwargs: Mapping[str, Any] | None = None,
        shuffle: bool = True,
        num_epochs: int | None = None,
        common_queue_capacity: int = 256,
        common_queue_min: int = 128,
        record_key: str = "record_key",
        seed: int | None = None,
        scope: str | None = None,
    ):
        key, data = parallel_read(
            dataset.data_sources,
            reader_class=dataset.reader,
            num_epochs=num_epochs,
            num_readers=num_readers,
            reader_kwargs=reader_kwargs,
            shuffle=shuffle,
            capacity=common_queue_capacity,
            min_after_dequeue=common_queue_min,
            seed=seed,
            scope=scope,
        )
        items = dataset.decoder.list_items()
        if record_key in items:
            raise ValueError(f"The item name used for `record_key` cannot also be used for a dataset item: {record_key}")
        tensors = dataset.decoder.decode(data, items)
        super().__init__({**dict(zip(items, tensors, strict=True)), record_key: key}, dataset.num_samples)
