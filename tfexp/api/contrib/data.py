"""`tf.contrib.data`: what became `tf.data.experimental`, and some more."""

from tfexp.contributed.data_sets import LMDBDataset as LMDBDataset
from tfexp.contributed.data_sets import assert_element_shape as assert_element_shape
from tfexp.contributed.data_sets import batch_and_drop_remainder as batch_and_drop_remainder
from tfexp.contributed.data_sets import padded_batch_and_drop_remainder as padded_batch_and_drop_remainder
from tfexp.contributed.data_sets import read_batch_features as read_batch_features
from tfexp.contributed.data_sets import reduce_dataset as reduce_dataset
from tfexp.contributed.data_sets import sliding_window_batch as sliding_window_batch
from tfexp.contributed.data_sets import sloppy_interleave as sloppy_interleave
from tfexp.core.gone import namespace
from tfexp.data.experimental import AUTOTUNE as AUTOTUNE
from tfexp.data.experimental import Counter as Counter
from tfexp.data.experimental import CsvDataset as CsvDataset
from tfexp.data.experimental import Optional as Optional
from tfexp.data.experimental import RandomDataset as RandomDataset
from tfexp.data.experimental import Reducer as Reducer
from tfexp.data.experimental import SqlDataset as SqlDataset
from tfexp.data.experimental import TFRecordWriter as TFRecordWriter
from tfexp.data.experimental import bucket_by_sequence_length as bucket_by_sequence_length
from tfexp.data.experimental import choose_from_datasets as choose_from_datasets
from tfexp.data.experimental import copy_to_device as copy_to_device
from tfexp.data.experimental import dense_to_sparse_batch as dense_to_sparse_batch
from tfexp.data.experimental import enumerate_dataset as enumerate_dataset
from tfexp.data.experimental import get_next_as_optional as get_next_as_optional
from tfexp.data.experimental import get_single_element as get_single_element
from tfexp.data.experimental import group_by_reducer as group_by_reducer
from tfexp.data.experimental import group_by_window as group_by_window
from tfexp.data.experimental import ignore_errors as ignore_errors
from tfexp.data.experimental import make_batched_features_dataset as make_batched_features_dataset
from tfexp.data.experimental import make_csv_dataset as make_csv_dataset
from tfexp.data.experimental import make_saveable_from_iterator as make_saveable_from_iterator
from tfexp.data.experimental import map_and_batch as map_and_batch
from tfexp.data.experimental import parallel_interleave as parallel_interleave
from tfexp.data.experimental import parse_example_dataset as parse_example_dataset
from tfexp.data.experimental import prefetch_to_device as prefetch_to_device
from tfexp.data.experimental import rejection_resample as rejection_resample
from tfexp.data.experimental import sample_from_datasets as sample_from_datasets
from tfexp.data.experimental import scan as scan
from tfexp.data.experimental import shuffle_and_repeat as shuffle_and_repeat
from tfexp.data.experimental import take_while as take_while
from tfexp.data.experimental import unbatch as unbatch
from tfexp.data.experimental import unique as unique

__getattr__, __dir__ = namespace(
    "tf.contrib.data",
    __name__,
    {"CheckpointInputPipelineHook": "tfexp.estimator.input_checkpoints:CheckpointInputPipelineHook"},
)
