"""The rows of the table of stand-ins (`places`) for `tensorflow.python.data`."""

from __future__ import annotations


def renamed(place: str, **names: str) -> str:
    """Places for attributes of one module that have other names there: theirs=ours."""
    return "".join(f"{place}:{theirs}={ours} " for theirs, ours in names.items())


# tensorflow.python.<key>, with the places that answer, in order.
DATA = {
    "data.experimental.ops.batching": "tf.data.experimental",
    "data.experimental.ops.cardinality": "tf.data.experimental "
    + renamed("tf.data.experimental", INFINITE="INFINITE_CARDINALITY", UNKNOWN="UNKNOWN_CARDINALITY"),
    "data.experimental.ops.counter": "tf.data.experimental",
    "data.experimental.ops.enumerate_ops": "tf.data.experimental",
    "data.experimental.ops.error_ops": "tf.data.experimental",
    "data.experimental.ops.get_single_element": "tf.data.experimental",
    "data.experimental.ops.grouping": "tf.data.experimental",
    "data.experimental.ops.interleave_ops": "tf.data.experimental",
    "data.experimental.ops.iterator_ops": "tf.data.experimental",
    "data.experimental.ops.matching_files": "tfexp.stand_ins.pipelines",
    "data.experimental.ops.optimization": "tfexp.stand_ins.pipelines tf.data.experimental",
    "data.experimental.ops.optimization_options": "tf.data.experimental",
    "data.experimental.ops.parsing_ops": "tf.data.experimental",
    "data.experimental.ops.prefetching_ops": "tf.data.experimental",
    "data.experimental.ops.random_ops": "tf.data.experimental",
    "data.experimental.ops.readers": "tf.data.experimental tfexp.stand_ins.pipelines",
    "data.experimental.ops.resampling": "tf.data.experimental",
    "data.experimental.ops.scan_ops": "tf.data.experimental",
    "data.experimental.ops.shuffle_ops": "tf.data.experimental",
    "data.experimental.ops.sleep": "tfexp.stand_ins.pipelines",
    "data.experimental.ops.stats_aggregator": "tf.data.experimental "
    + renamed("tf.data.experimental", StatsAggregatorV1="StatsAggregator"),
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
    "tf.data:DatasetV1Adapter=Dataset tf.data.experimental "
    + renamed("tf.data", get_legacy_output_types="get_output_types", get_legacy_output_shapes="get_output_shapes")
    + renamed("tf.data", get_legacy_output_classes="get_output_classes"),
    "data.ops.iterator_ops": "tf.data tfexp.data.eager_iterator:IteratorV2=EagerIterator tfexp.data.iterator "
    "tf.data.experimental",
    "data.ops.multi_device_iterator_ops": "tfexp.stand_ins.multi_device_iterators",
    "data.ops.optional_ops": "tf.data.experimental tfexp.data.specs",
    "data.ops.readers": "tf.data tf.data.experimental "
    + renamed("tf.data", TextLineDatasetV1="TextLineDataset", TextLineDatasetV2="TextLineDataset")
    + renamed("tf.data", TFRecordDatasetV1="TFRecordDataset", FixedLengthRecordDatasetV1="FixedLengthRecordDataset")
    + renamed("tf.data", TFRecordDatasetV2="TFRecordDataset", FixedLengthRecordDatasetV2="FixedLengthRecordDataset"),
    "data.util.nest": renamed("tfexp.data.structure", pack_sequence_as="pack_as", map_structure="map_leaves")
    + renamed("tfexp.data.structure", is_sequence="is_structure")
    + "tfexp.data.structure tfexp.core.nest tfexp.core.shallow_nest",
    "data.util.options": "tfexp.stand_ins.option_groups tf.data",
    "data.util.structure": "tf tfexp.stand_ins.dataset_structures tf.data.experimental",
    "data.util.convert": "tfexp.stand_ins.dataset_structures",
    "data.util.random_seed": "tfexp.stand_ins.dataset_structures",
    "data.util.sparse": "tfexp.stand_ins.dataset_structures",
    "data.util.traverse": "tfexp.stand_ins.dataset_structures",
    "data.experimental.ops.distribute_options": "tf.data.experimental",
    "data.experimental.ops.stats_options": "tf.data.experimental",
    "data.experimental.ops.threading_options": "tf.data.experimental",
}
