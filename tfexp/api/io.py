"""`tf.io`: files, records, Examples and their parsing."""

from typing import TYPE_CHECKING

from tfexp.core.gone import namespace

if TYPE_CHECKING:
    from tfexp.api import io_gfile as gfile
    from tfexp.formats.tfrecord import TFRecordCompressionType as TFRecordCompressionType
    from tfexp.formats.tfrecord import TFRecordOptions as TFRecordOptions
    from tfexp.formats.tfrecord import TFRecordWriter as TFRecordWriter
    from tfexp.formats.tfrecord import tf_record_iterator as tf_record_iterator
    from tfexp.ops.decode_csv import decode_csv as decode_csv
    from tfexp.ops.decode_raw import decode_compressed as decode_compressed
    from tfexp.ops.decode_raw import decode_json_example as decode_json_example
    from tfexp.ops.decode_raw import decode_raw as decode_raw
    from tfexp.ops.decode_raw import parse_tensor as parse_tensor
    from tfexp.ops.decode_raw import serialize_tensor as serialize_tensor
    from tfexp.ops.files import matching_files as matching_files
    from tfexp.ops.files import read_file as read_file
    from tfexp.ops.files import write_file as write_file
    from tfexp.ops.image_codec import decode_and_crop_jpeg as decode_and_crop_jpeg
    from tfexp.ops.image_codec import decode_bmp as decode_bmp
    from tfexp.ops.image_codec import decode_gif as decode_gif
    from tfexp.ops.image_codec import decode_image as decode_image
    from tfexp.ops.image_codec import decode_jpeg as decode_jpeg
    from tfexp.ops.image_codec import decode_png as decode_png
    from tfexp.ops.image_codec import encode_jpeg as encode_jpeg
    from tfexp.ops.image_codec import extract_jpeg_shape as extract_jpeg_shape
    from tfexp.ops.image_codec import is_jpeg as is_jpeg
    from tfexp.ops.parsing import FixedLenFeature as FixedLenFeature
    from tfexp.ops.parsing import FixedLenSequenceFeature as FixedLenSequenceFeature
    from tfexp.ops.parsing import SparseFeature as SparseFeature
    from tfexp.ops.parsing import VarLenFeature as VarLenFeature
    from tfexp.ops.parsing import parse_example as parse_example
    from tfexp.ops.parsing import parse_single_example as parse_single_example
    from tfexp.ops.parsing_sequence import parse_sequence_example as parse_sequence_example
    from tfexp.ops.parsing_sequence import parse_single_sequence_example as parse_single_sequence_example
    from tfexp.ops.proto import decode_proto as decode_proto
    from tfexp.ops.proto import encode_proto as encode_proto
    from tfexp.ops.queue import PaddingFIFOQueue as PaddingFIFOQueue
    from tfexp.ops.queue import PriorityQueue as PriorityQueue
    from tfexp.ops.queue import QueueBase as QueueBase
    from tfexp.ops.queue import RandomShuffleQueue as RandomShuffleQueue
    from tfexp.ops.sparse_serial import deserialize_many_sparse as deserialize_many_sparse
    from tfexp.ops.sparse_serial import serialize_many_sparse as serialize_many_sparse
    from tfexp.ops.sparse_serial import serialize_sparse as serialize_sparse
    from tfexp.ops.string_text import decode_base64 as decode_base64
    from tfexp.ops.string_text import encode_base64 as encode_base64
    from tfexp.train.graph_io import write_graph as write_graph
    from tfexp.train.input import match_filenames_once as match_filenames_once

__getattr__, __dir__ = namespace("tf.io", __name__)
