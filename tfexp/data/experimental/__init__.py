"""`tf.data.experimental`: further data sets, iterators that are saved, options."""

from typing import TYPE_CHECKING

from tfexp.core.gone import namespace

if TYPE_CHECKING:
    from tfexp.data.csv import CsvDataset as CsvDataset
    from tfexp.data.csv import make_csv_dataset as make_csv_dataset
    from tfexp.data.devices import copy_to_device as copy_to_device
    from tfexp.data.devices import prefetch_to_device as prefetch_to_device
    from tfexp.data.files import TFRecordWriter as TFRecordWriter
    from tfexp.data.files import make_batched_features_dataset as make_batched_features_dataset
    from tfexp.data.files import parse_example_dataset as parse_example_dataset
    from tfexp.data.grouping import Reducer as Reducer
    from tfexp.data.grouping import bucket_by_sequence_length as bucket_by_sequence_length
    from tfexp.data.grouping import group_by_reducer as group_by_reducer
    from tfexp.data.grouping import group_by_window as group_by_window
    from tfexp.data.interleaving import map_and_batch as map_and_batch
    from tfexp.data.interleaving import map_and_batch as map_and_batch_with_legacy_function
    from tfexp.data.interleaving import parallel_interleave as parallel_interleave
    from tfexp.data.mixing import Counter as Counter
    from tfexp.data.mixing import RandomDataset as RandomDataset
    from tfexp.data.mixing import choose_from_datasets as choose_from_datasets
    from tfexp.data.mixing import rejection_resample as rejection_resample
    from tfexp.data.mixing import sample_from_datasets as sample_from_datasets
    from tfexp.data.mixing import unique as unique
    from tfexp.data.optional import Optional as Optional
    from tfexp.data.optional import get_next_as_optional as get_next_as_optional
    from tfexp.data.options import DistributeOptions as DistributeOptions
    from tfexp.data.options import MapVectorizationOptions as MapVectorizationOptions
    from tfexp.data.options import OptimizationOptions as OptimizationOptions
    from tfexp.data.options import StatsOptions as StatsOptions
    from tfexp.data.options import ThreadingOptions as ThreadingOptions
    from tfexp.data.specs import DatasetStructure as DatasetStructure
    from tfexp.data.specs import OptionalStructure as OptionalStructure
    from tfexp.data.specs import RaggedTensorStructure as RaggedTensorStructure
    from tfexp.data.specs import SparseTensorStructure as SparseTensorStructure
    from tfexp.data.specs import Structure as Structure
    from tfexp.data.specs import TensorArrayStructure as TensorArrayStructure
    from tfexp.data.specs import TensorStructure as TensorStructure
    from tfexp.data.sql import SqlDataset as SqlDataset
    from tfexp.data.statistics import StatsAggregator as StatsAggregator
    from tfexp.data.transformations import bytes_produced_stats as bytes_produced_stats
    from tfexp.data.transformations import cardinality as cardinality
    from tfexp.data.transformations import dense_to_sparse_batch as dense_to_sparse_batch
    from tfexp.data.transformations import enumerate_dataset as enumerate_dataset
    from tfexp.data.transformations import from_variant as from_variant
    from tfexp.data.transformations import get_single_element as get_single_element
    from tfexp.data.transformations import get_structure as get_structure
    from tfexp.data.transformations import ignore_errors as ignore_errors
    from tfexp.data.transformations import latency_stats as latency_stats
    from tfexp.data.transformations import make_saveable_from_iterator as make_saveable_from_iterator
    from tfexp.data.transformations import scan as scan
    from tfexp.data.transformations import shuffle_and_repeat as shuffle_and_repeat
    from tfexp.data.transformations import take_while as take_while
    from tfexp.data.transformations import to_variant as to_variant
    from tfexp.data.transformations import unbatch as unbatch
    from tfexp.ops.dataset import INFINITE as INFINITE_CARDINALITY
    from tfexp.ops.dataset import UNKNOWN as UNKNOWN_CARDINALITY

AUTOTUNE = -1

__getattr__, __dir__ = namespace(
    "tf.data.experimental",
    __name__,
    {"CheckpointInputPipelineHook": "tfexp.estimator.input_checkpoints:CheckpointInputPipelineHook"},
)
