"""Data sets of files that are found, and of what stands in them: lists of names, CSV, TFRecords of Examples, written ones.

Source: `tf.data.Dataset.list_files` and `tf.data.experimental`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfexp.core import dtypes
from tfexp.data.dataset import Dataset
from tfexp.data.interleaving import parallel_interleave
from tfexp.data.readers import TFRecordDataset
from tfexp.data.sparse import SPARSE
from tfexp.data.structure import Component, spec_of
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.ops.dataset_parse import parse_example_dataset_v2
from tfexp.ops.dataset_write import dataset_to_tf_record
from tfexp.ops.parsing import SparseFeature, feature_spec, put_together

Transformation = Callable[[Dataset], Dataset]

AUTOTUNE = -1


def shuffled_and_repeated(dataset: Dataset, num_epochs: int | None, shuffle: bool, size: int, seed: Any) -> Dataset:
    """As data sets of whole epochs come: shuffled anew for each of them, and again unless there is one epoch."""
    if shuffle:
        dataset = dataset.shuffle(size, seed)
    return dataset if num_epochs == 1 else dataset.repeat(num_epochs)


def parse_example_dataset(features: Mapping[str, Any], num_parallel_calls: Any = 1) -> Transformation:
    """Batches of serialized Examples, as dicts of tensors and SparseTensors; see `tf.parse_example`.

    ValueError without features; TypeError for a data set of anything but vectors of strings.
    """
    if features is None:
        raise ValueError("Argument `features` is required, but not specified.")

    def apply(dataset: Dataset) -> Dataset:
        serialized = dataset._element
        if not (isinstance(serialized, Component) and serialized.dtype is dtypes.string and serialized.shape.rank == 1):
            raise TypeError(
                f"Input dataset should be a dataset of vectors of strings. Instead it is of type {dataset.output_types} and "
                f"shape {dataset.output_shapes}."
            )
        spec = feature_spec(features)
        batch = serialized.shape
        parts = {
            **{
                key: Component(dtype, batch.concatenate([None]), None, SPARSE)
                for key, dtype in zip(spec.sparse_keys, spec.sparse_types, strict=True)
            },
            **{
                key: Component(dtype, batch.concatenate(shape))
                for key, dtype, shape in zip(spec.dense_keys, spec.dense_types, spec.dense_shapes, strict=True)
            },
        }
        element = {key: parts[key] for key in sorted(parts)}
        variant = parse_example_dataset_v2(
            dataset._variant_tensor,
            num_parallel_calls,
            spec.default_tensors(),
            sparse_keys=spec.sparse_keys,
            sparse_types=spec.sparse_types,
            dense_keys=spec.dense_keys,
            dense_shapes=spec.dense_shapes,
            ragged_keys=[],
            ragged_value_types=[],
            ragged_split_types=[],
            **spec_of(element),
        )
        parsed = Dataset(variant, element, dataset)
        if not any(isinstance(feature, SparseFeature) for feature in features.values()):
            return parsed
        return parsed.map(lambda found: put_together(features, found), num_parallel_calls)

    return apply


def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: Any,
    features: Mapping[str, Any],
    reader: Callable[..., Dataset] = TFRecordDataset,
    label_key: str | None = None,
    reader_args: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    reader_num_threads: Any = None,
    parser_num_threads: Any = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Batches of the Examples in all files of a pattern, parsed, shuffled, again and again.

    Dicts of features, or (features, label) with `label_key`. ValueError for a label that is no feature. All batches have
    `batch_size` examples, but the last one, of several epochs, only without `drop_final_batch`.
    """
    if label_key is not None and label_key not in features:
        raise ValueError(f"The `label_key` provided ({label_key!r}) must be one of the `features` keys: {list(features)}.")
    reader_args = reader_args or []
    names = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    records = names.apply(
        parallel_interleave(lambda name: reader(name, *reader_args), reader_num_threads or 1, sloppy=sloppy_ordering)
    )
    if isinstance(records._element, tuple):
        records = records.map(lambda _, value: value)
    records = shuffled_and_repeated(records, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    batches = records.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    parsed = batches.apply(parse_example_dataset(features, parser_num_threads or 2))
    if label_key is not None:
        parsed = parsed.map(lambda example: (example, example.pop(label_key)))
    return parsed.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


class TFRecordWriter:
    """Writes data sets of strings to a TFRecord file. `tf.data.experimental.TFRecordWriter`."""

    def __init__(self, filename: Any, compression_type: Any = None):
        self._filename = convert_to_tensor(filename, dtype=dtypes.string, name="filename")
        kind = "" if compression_type is None else compression_type
        self._compression_type = convert_to_tensor(kind, dtype=dtypes.string, name="compression_type")

    def write(self, dataset: Dataset) -> Operation:
        """The operation that writes all elements. TypeError unless they are scalar strings."""
        if not isinstance(dataset, Dataset):
            raise TypeError(f"`dataset` must be a `tf.data.Dataset` object. Got {type(dataset)}.")
        element = dataset._element
        if not (isinstance(element, Component) and element.dtype is dtypes.string and element.shape.is_compatible_with([])):
            raise TypeError(
                f"`dataset` must produce scalar `DT_STRING` tensors whereas it produces shape {dataset.output_shapes} and "
                f"types {dataset.output_types}"
            )
        operation: Operation = dataset_to_tf_record(dataset._variant_tensor, self._filename, self._compression_type)
        return operation
