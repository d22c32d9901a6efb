"""`tf.contrib.learn.io`: input functions of arrays and tables."""

from tfexp.contributed.learn.pandas_arrays import extract_pandas_data as extract_pandas_data
from tfexp.contributed.learn.pandas_arrays import extract_pandas_labels as extract_pandas_labels
from tfexp.contributed.learn.pandas_arrays import extract_pandas_matrix as extract_pandas_matrix
from tfexp.contributed.learn.reading import queue_parsed_features as queue_parsed_features
from tfexp.contributed.learn.reading import read_batch_examples as read_batch_examples
from tfexp.contributed.learn.reading import read_batch_features as read_batch_features
from tfexp.contributed.learn.reading import read_batch_record_features as read_batch_record_features
from tfexp.contributed.learn.reading import read_keyed_batch_examples as read_keyed_batch_examples
from tfexp.contributed.learn.reading import read_keyed_batch_features as read_keyed_batch_features
from tfexp.contributed.learn.shuffled_inputs import numpy_input_fn as numpy_input_fn
from tfexp.contributed.learn.shuffled_inputs import pandas_input_fn as pandas_input_fn
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.learn.io")
