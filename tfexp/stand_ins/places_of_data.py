"""The rows of the table of stand-ins (`places`) for `tensorflow.python.data`."""

from __future__ import annotations


def renamed(place: str, **names: str) -> str:
    """Places for attributes of one module that have other names there: theirs=ours."""
    return "".join(f"{place}:{theirs}={ours} " for theirs, ours in names.items())


# Classes of data sets, as functions of the data set that they are made of, and the methods that make them.
_CLASSES = {
    "TensorDataset": "from_tensors",
    "TensorSliceDataset": "from_tensor_slices",
    "SparseTensorSliceDataset": "from_sparse_tensor_slices",
    "RangeDataset": "range",
    "ZipDataset": "zip",
    "ConcatenateDataset": "concatenate",
    "RepeatDataset": "repeat",
    "TakeDataset": "take",
    "SkipDataset": "skip",
    "ShardDataset": "shard",
    "ShuffleDataset": "shuffle",
    "CacheDataset": "cache",
    "BatchDataset": "batch",
    "PaddedBatchDataset": "padded_batch",
    "WindowDataset": "window",
    "PrefetchDataset": "prefetch",
    "FilterDataset": "filter",
    "FlatMapDataset": "flat_map",
    "InterleaveDataset": "interleave",
    "ParallelInterleaveDataset": "interleave",
    "_UnbatchDataset": "unbatch",
    "_OptionsDataset": "with_options",
}

_STRUCTURES = ("TensorStructure", "SparseTensorStructure", "RaggedTensorStructure", "TensorArrayStructure")

# tensorflow.python.<key>, with the places that answer, in order.
DATA = {
    "data": "tf.data",
    "data.experimental": "tf.data.experimental",
    "data.experimental.ops.batching": "tf.data.experimental tfexp.stand_ins.data_experiments",
    "data.experimental.ops.cardinality": "tf.data.experimental "
    + renamed("tf.data.experimental", INFINITE="INFINITE_CARDINALITY", UNKNOWN="UNKNOWN_CARDINALITY"),
    "data.experimental.ops.counter": "tf.data.experimental "
    + renamed("tf.data.experimental", CounterV1="Counter", CounterV2="Counter"),
    "data.experimental.ops.distribute": "tfexp.stand_ins.data_experiments",
    "data.experimental.ops.enumerate_ops": "tf.data.experimental",
    "data.experimental.ops.error_ops": "tf.data.experimental",
    "data.experimental.ops.get_single_element": "tf.data.experimental",
    "data.experimental.ops.grouping": "tf.data.experimental",
    "data.experimental.ops.interleave_ops": "tf.data.experimental tfexp.stand_ins.data_experiments "
    + renamed("tf.data.experimental", sample_from_datasets_v1="sample_from_datasets")
    + renamed("tf.data.experimental", sample_from_datasets_v2="sample_from_datasets")
    + renamed("tf.data.experimental", choose_from_datasets_v1="choose_from_datasets")
    + renamed("tf.data.experimental", choose_from_datasets_v2="choose_from_datasets"),
    "data.experimental.ops.iterator_ops": "tf.data.experimental",
    "data.experimental.ops.map_defun": "tfexp.stand_ins.data_experiments",
    "data.experimental.ops.matching_files": "tfexp.stand_ins.pipelines",
    "data.experimental.ops.optimization": "tfexp.stand_ins.pipelines tfexp.stand_ins.data_experiments tf.data.experimental",
    "data.experimental.ops.optimization_options": "tf.data.experimental",
    "data.experimental.ops.parsing_ops": "tf.data.experimental",
    "data.experimental.ops.prefetching_ops": "tf.data.experimental",
    "data.experimental.ops.random_ops": "tf.data.experimental "
    + renamed("tf.data.experimental", RandomDatasetV1="RandomDataset", RandomDatasetV2="RandomDataset"),
    "data.experimental.ops.readers": "tf.data.experimental tfexp.stand_ins.pipelines "
    + renamed("tf.data.experimental", CsvDatasetV1="CsvDataset", CsvDatasetV2="CsvDataset")
    + renamed("tf.data.experimental", SqlDatasetV1="SqlDataset", SqlDatasetV2="SqlDataset")
    + renamed("tf.data.experimental", make_csv_dataset_v1="make_csv_dataset", make_csv_dataset_v2="make_csv_dataset")
    + renamed("tf.data.experimental", make_batched_features_dataset_v1="make_batched_features_dataset")
    + renamed("tf.data.experimental", make_batched_features_dataset_v2="make_batched_features_dataset"),
    "data.experimental.ops.resampling": "tf.data.experimental",
    "data.experimental.ops.scan_ops": "tf.data.experimental tfexp.stand_ins.data_experiments",
    "data.experimental.ops.shuffle_ops": "tf.data.experimental",
    "data.experimental.ops.sleep": "tfexp.stand_ins.pipelines",
    "data.experimental.ops.stats_aggregator": "tf.data.experimental "
    + renamed("tf.data.experimental", StatsAggregatorV1="StatsAggregator", StatsAggregatorV2="StatsAggregator"),
    "data.experimental.ops.stats_ops": "tf.data.experimental tfexp.data.transformations",
    "data.experimental.ops.take_while_ops": "tf.data.experimental",
    "data.experimental.ops.threadpool": "tfexp.stand_ins.pipelines",
    "data.experimental.ops.unique": "tf.data.experimental",
    "data.experimental.ops.writers": "tf.data.experimental",
    "data.experimental.kernel_tests.reader_dataset_ops_test_base": "tfexp.stand_ins.reader_tests",
    "data.experimental.kernel_tests.serialization.dataset_serialization_test_base": "tfexp.stand_ins.dataset_saving_tests",
    "data.kernel_tests.filter_test_base": "tfexp.stand_ins.dataset_tests",
    "data.kernel_tests.test_base": "tfexp.stand_ins.dataset_tests",
    "data.ops.dataset_ops": "tf.data tfexp.data.dataset tf.data:DatasetV1=Dataset tf.data:DatasetV2=Dataset "
    "tf.data:DatasetV1Adapter=Dataset tf.data.experimental tfexp.stand_ins.dataset_classes "
    + renamed("tf.data.Dataset", **_CLASSES)
    + renamed("tf.data", get_legacy_output_types="get_output_types", get_legacy_output_shapes="get_output_shapes")
    + renamed("tf.data", get_legacy_output_classes="get_output_classes"),
    "data.ops.iterator_ops": "tf.data tfexp.data.eager_iterator:IteratorV2=EagerIterator tfexp.data.iterator "
    "tf.data.experimental",
    "data.ops.multi_device_iterator_ops": "tfexp.stand_ins.multi_device_iterators",
    "data.ops.optional_ops": "tf.data.experimental tfexp.data.specs "
    "tfexp.stand_ins.dataset_classes:_OptionalImpl=_OptionalImpl",
    "data.ops.readers": "tf.data tf.data.experimental "
    + renamed("tf.data", TextLineDatasetV1="TextLineDataset", TextLineDatasetV2="TextLineDataset")
    + renamed("tf.data", TFRecordDatasetV1="TFRecordDataset", FixedLengthRecordDatasetV1="FixedLengthRecordDataset")
    + renamed("tf.data", TFRecordDatasetV2="TFRecordDataset", FixedLengthRecordDatasetV2="FixedLengthRecordDataset")
    + renamed("tf.data", _TextLineDataset="TextLineDataset", _TFRecordDataset="TFRecordDataset")
    + renamed("tf.data", _FixedLengthRecordDataset="FixedLengthRecordDataset"),
    "data.util.nest": "tfexp.stand_ins.data_nest",
    "data.util.options": "tfexp.stand_ins.option_groups tf.data",
    "data.util.structure": "tf tfexp.stand_ins.dataset_structures tf.data.experimental "
    + renamed("tf.data.experimental", **{f"_{name}": name for name in _STRUCTURES}),
    "data.util.convert": "tfexp.stand_ins.dataset_structures",
    "data.util.random_seed": "tfexp.stand_ins.dataset_structures",
    "data.util.sparse": "tfexp.stand_ins.dataset_structures",
    "data.util.traverse": "tfexp.stand_ins.dataset_structures",
    "data.experimental.ops.distribute_options": "tf.data.experimental",
    "data.experimental.ops.stats_options": "tf.data.experimental",
    "data.experimental.ops.threading_options": "tf.data.experimental",
}
